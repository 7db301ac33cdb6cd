package dev.tollgate.aws.scheduler;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Calendar;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.provisioning.Drift;
import dev.tollgate.core.testing.Samples;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The settings of schedules, and their comparison with schedules that somebody edited. */
class EventBridgeFillSchedulesTest extends ScriptedAdapters {
  private static final Drift IN_SYNC = new Drift.InSync();

  private String schedulePath() {
    return "/schedules/blue_connect_" + tenant;
  }

  private Bucket opened(BucketSpec spec) {
    return Bucket.opened(bucket, spec, Samples.NOW);
  }

  private static BucketSpec spec(FillMode mode) {
    return new BucketSpec(Rate.perMinute(2), 6, new FillPolicy(mode, 15));
  }

  private static String withoutClientToken(String body) {
    return body.replaceFirst("\"ClientToken\":\"[^\"]*\",?", "");
  }

  /** Scripts the response of Scheduler: the schedule as it was put. */
  private void returnPutSchedule(String path) {
    String original = services.requests("POST " + path).get(0).body();
    services.on("GET " + path, request -> Answer.ok(original));
  }

  @Test
  void a_schedule_of_a_direct_bucket_sends_a_minutes_tokens_without_retry() {
    aws.fillSchedules().put(opened(spec(FillMode.DIRECT)).direct(Samples.NOW));

    String body = services.requests("POST " + schedulePath()).get(0).body();
    JsonNode target = json(body).path("Target");
    assertThat(target.path("Arn").asText())
        .isEqualTo("arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch");
    assertThat(target.at("/RetryPolicy/MaximumRetryAttempts").asInt(-1)).isZero();
    JsonNode input = json(target.path("Input").asText());
    assertThat(input.path("QueueUrl").asText())
        .endsWith("/blue_connect_" + tenant + "_token_bucket");
    assertThat(input.path("Entries")).hasSize(2);
    assertThat(input.at("/Entries/0/Id").asText()).isNotEqualTo(input.at("/Entries/1/Id").asText());
    assertThat(json(input.at("/Entries/0/MessageBody").asText()).path("mintedAt").asText())
        .isEqualTo("<aws.scheduler.scheduled-time>");
  }

  @Test
  void a_schedule_of_a_direct_bucket_names_the_partition_of_its_role() {
    Map<String, String> environment = services.environment();
    environment.put("SCHEDULE_ROLE_ARN", "arn:aws-cn:iam::000000000000:role/Schedule");

    new AwsEnvironment(environment, clock, line -> {})
        .fillSchedules()
        .put(opened(spec(FillMode.DIRECT)).direct(Samples.NOW));

    String body = services.requests("POST " + schedulePath()).get(0).body();
    assertThat(json(body).at("/Target/Arn").asText())
        .isEqualTo("arn:aws-cn:scheduler:::aws-sdk:sqs:sendMessageBatch");
  }

  @Test
  void a_hibernating_or_not_yet_direct_bucket_has_the_producers_schedule() {
    aws.fillSchedules().put(opened(spec(FillMode.DIRECT)));
    aws.fillSchedules().put(opened(spec(FillMode.DIRECT)).hibernating(Samples.NOW));

    assertThat(services.requests("POST " + schedulePath()))
        .extracting(request -> json(request.body()))
        .allMatch(body -> body.at("/Target/Arn").asText().endsWith(":function:f:l"))
        .extracting(body -> body.path("State").asText())
        .containsExactly("ENABLED", "DISABLED");
  }

  @Test
  void a_shared_bucket_has_no_schedule_and_its_shard_has_one() {
    aws.fillSchedules().put(opened(spec(FillMode.SHARED)));
    aws.fillSchedules().put(new Shard(7));

    assertThat(services.operations())
        .containsExactly("AssumeRole", "DELETE " + schedulePath(), "POST /schedules/shard-7");
    assertThat(services.requests("POST /schedules/shard-7").get(0).body())
        .contains(
            "{\\\"shard\\\":\\\"shard-7\\\",",
            "\\\"scheduledTime\\\":\\\"<aws.scheduler.scheduled-time>\\\"}");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "DAY | | 00:05 | cron(5 0 * * ? *) | each day at 00:05 (Europe/Berlin)",
        "WEEK | SUNDAY | 18:30 | cron(30 18 ? * SUN *) | each Sunday at 18:30 (Europe/Berlin)",
      })
  void schedule_of_a_calendar_fires_when_a_period_begins_and_is_retried_for_an_hour(
      String every, String on, String at, String expression, String description) {
    Calendar calendar = Calendar.of(every, Optional.ofNullable(on), at, "Europe/Berlin", false);
    aws.fillSchedules().put(opened(new BucketSpec(calendar, 1_000)));

    assertThat(services.requests("POST " + schedulePath()).get(0).body())
        .contains(
            "\"ScheduleExpression\":\"" + expression + "\"",
            "\"ScheduleExpressionTimezone\":\"Europe/Berlin\"",
            "\"RetryPolicy\":{\"MaximumEventAgeInSeconds\":3600,\"MaximumRetryAttempts\":60}",
            "\"Description\":\"1000 tokens " + description + "\"");
  }

  @Test
  void an_existing_schedule_of_a_shard_is_not_changed() {
    services.on("POST /schedules/shard-7", request -> Answer.failure(409, "ConflictException"));

    aws.fillSchedules().put(new Shard(7));

    assertThat(services.operations()).containsExactly("POST /schedules/shard-7");
  }

  @Test
  void a_new_schedule_has_all_required_settings() {
    aws.fillSchedules().put(opened(new BucketSpec(Rate.perMinute(new BigDecimal("0.2")), 5)));

    String body = services.requests("POST " + schedulePath()).get(0).body();
    assertThat(body)
        .contains(
            "\"GroupName\":\"Group\"",
            "\"ScheduleExpression\":\"cron(* * * * ? *)\"",
            "\"FlexibleTimeWindow\":{\"Mode\":\"OFF\"}",
            "\"State\":\"ENABLED\"",
            "\"Description\":\"0.2 tokens a minute, capacity 5\"",
            "\"RetryPolicy\":{\"MaximumEventAgeInSeconds\":60,\"MaximumRetryAttempts\":2}",
            "\"DeadLetterConfig\":{\"Arn\":\"arn:aws:sqs:eu-central-1:000000000000:dead\"}",
            "{\\\"tenantId\\\":\\\"%s\\\",\\\"action\\\":\\\"connect\\\",".formatted(tenant)
                + "\\\"scheduledTime\\\":\\\"<aws.scheduler.scheduled-time>\\\"}",
            "\"ClientToken\":");
  }

  @Test
  void an_existing_schedule_is_replaced_with_all_settings() {
    services.on("POST " + schedulePath(), request -> Answer.failure(409, "ConflictException"));

    BucketSpec spec = BucketSpec.ofRate(Rate.perMinute(60));
    aws.fillSchedules().put(opened(spec).suspended(spec, Samples.NOW));

    String created = services.requests("POST " + schedulePath()).get(0).body();
    String updated = services.requests("PUT " + schedulePath()).get(0).body();
    assertThat(updated).contains("DISABLED", "60 tokens a minute, capacity 60");
    assertThat(withoutClientToken(updated)).isEqualTo(withoutClientToken(created));
  }

  @Test
  void a_missing_schedule_counts_as_deleted() {
    services.on(
        "DELETE " + schedulePath(), request -> Answer.failure(404, "ResourceNotFoundException"));

    assertThatCode(() -> aws.fillSchedules().delete(bucket)).doesNotThrowAnyException();
  }

  @Test
  void a_failed_put_of_a_schedule_is_unavailable() {
    services.on("POST " + schedulePath(), request -> Answer.failure(400, "ValidationException"));

    assertThatThrownBy(() -> aws.fillSchedules().put(opened(BucketSpec.ofRate(Rate.perMinute(1)))))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("Scheduler");
  }

  @Test
  void a_schedule_is_in_sync_after_put_in_every_fill_state() {
    Bucket opened = opened(spec(FillMode.DIRECT));
    for (Bucket row :
        List.of(opened, opened.direct(Samples.NOW), opened.hibernating(Samples.NOW))) {
      services.on("POST " + schedulePath(), request -> Answer.ok("{}"));
      services.clear();
      aws.fillSchedules().put(row);
      returnPutSchedule(schedulePath());

      assertThat(aws.fillSchedules().compare(row)).as("%s", row.fillState()).isEqualTo(IN_SYNC);
      assertThat(aws.fillSchedules().has(bucket)).isTrue();
    }
    aws.fillSchedules().put(new Shard(7));
    returnPutSchedule("/schedules/shard-7");

    assertThat(aws.fillSchedules().compare(new Shard(7))).isEqualTo(IN_SYNC);
    assertThat(services.requests("GET " + schedulePath()))
        .allMatch(request -> request.accessKey().equals(tenant.value()));
    assertThat(services.requests("GET /schedules/shard-7"))
        .allMatch(request -> request.accessKey().equals("own"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "\"State\":\"ENABLED\" | \"State\":\"DISABLED\" | state: DISABLED (expected: ENABLED)",
        "cron(* * * * ? *) | rate(5 minutes) | expression: rate(5 minutes)",
        "\"UTC\" | \"Asia/Tokyo\" | time zone: Asia/Tokyo (expected: UTC)",
        "\"Mode\":\"OFF\" | \"Mode\":\"FLEXIBLE\",\"MaximumWindowInMinutes\":5 | window: ",
        "function:f:l | function:g:l | target: ",
        "role/Schedule | role/Other | role: ",
        "scheduledTime | time | input: ",
        "\"MaximumRetryAttempts\":2 | \"MaximumRetryAttempts\":185 | retries: 185 (expected: 2)",
        "\"MaximumEventAgeInSeconds\":60 | \"MaximumEventAgeInSeconds\":61 | retry period",
        ":dead | :alive | dead letters: ",
        "\"State\" | \"EndDate\":1,\"State\" | end: 1970-01-01T00:00:01Z (expected: none)",
        "\"State\" | \"StartDate\":1,\"State\" | start: 1970-01-01T00:00:01Z (expected: none)",
      })
  void an_edited_schedule_differs_in_the_edited_setting(
      String original, String edited, String difference) {
    Bucket row = opened(spec(FillMode.PRODUCER));
    aws.fillSchedules().put(row);
    String body = services.requests("POST " + schedulePath()).get(0).body();
    assertThat(body).contains(original);
    services.on("GET " + schedulePath(), request -> Answer.ok(body.replace(original, edited)));

    assertThat(aws.fillSchedules().compare(row))
        .isInstanceOfSatisfying(
            Drift.Differs.class,
            differs ->
                assertThat(differs.differences())
                    .singleElement()
                    .asString()
                    .startsWith(difference));
  }

  @Test
  void a_deleted_schedule_is_missing_unless_the_bucket_is_shared() {
    services.on(
        "GET " + schedulePath(), request -> Answer.failure(404, "ResourceNotFoundException"));
    services.on(
        "GET /schedules/shard-7", request -> Answer.failure(404, "ResourceNotFoundException"));

    assertThat(aws.fillSchedules().compare(opened(spec(FillMode.PRODUCER))))
        .isEqualTo(new Drift.Missing());
    assertThat(aws.fillSchedules().compare(opened(spec(FillMode.SHARED)))).isEqualTo(IN_SYNC);
    assertThat(aws.fillSchedules().compare(new Shard(7))).isEqualTo(new Drift.Missing());
    assertThat(aws.fillSchedules().has(bucket)).isFalse();
  }

  @Test
  void a_schedule_of_a_shared_bucket_differs() {
    services.on("GET " + schedulePath(), request -> Answer.ok("{}"));

    assertThat(aws.fillSchedules().compare(opened(spec(FillMode.SHARED))))
        .isInstanceOf(Drift.Differs.class);
  }
}
