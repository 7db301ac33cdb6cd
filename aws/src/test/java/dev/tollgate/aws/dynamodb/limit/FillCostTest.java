package dev.tollgate.aws.dynamodb.limit;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.config.AwsEnvironment;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.provisioning.ReconcileRequests;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** What the fill of a bucket costs the token producer. */
class FillCostTest {
  private static final Pattern ENTRY =
      Pattern.compile("\"Id\":\"([^\"]+)\",\"MessageBody\":\"((?:[^\"\\\\]|\\\\.)*)\"");

  private final BucketId id = new BucketId(new TenantId("acme"), new Action("connect"));

  /** A full bucket, and one of 60 a minute that is drained every minute. */
  @ParameterizedTest
  @CsvSource({"full, 60, 3", "drained, 0, 9"})
  void a_fill_costs_so_many_requests(String name, int level, int requests) {
    ManualClock clock = new ManualClock(Samples.NOW);
    Bucket bucket =
        Bucket.opened(
            id,
            new BucketSpec(Rate.perMinute(60), 60, new FillPolicy(FillMode.SHARED, 15)),
            Samples.NOW.minus(Duration.ofMinutes(1)));
    Bucket stored =
        bucket.filled(
            bucket.step(Samples.NOW.minusSeconds(60), 60), 60, Samples.NOW.minusSeconds(60));
    try (ScriptedAws aws = new ScriptedAws()) {
      aws.on("GetItem", request -> Answer.ok("{\"Item\":" + json(LimitRow.write(stored)) + "}"));
      aws.on("GetQueueAttributes", request -> Answer.ok(levels(level)));
      aws.on("SendMessageBatch", request -> Answer.ok(sent(request.body())));
      AwsEnvironment environment = AwsEnvironment.withOwnRole(aws.environment(), clock);
      BucketMaintenance maintenance =
          new BucketMaintenance(
              environment.buckets(),
              environment.tokenQueue(),
              environment.bucketQueues(),
              environment.fillSchedules("arn:aws:lambda:eu-central-1:000000000000:function:f:l"),
              new ReconcileRequests(environment.tenants()),
              clock);

      maintenance.maintainInShard(id, Instant.MAX);
      assertThat(aws.requests()).as("%s", aws.operations()).hasSize(requests);
    }
  }

  private static String levels(int visible) {
    return """
    {"Attributes":{"ApproximateNumberOfMessages":"%d","ApproximateNumberOfMessagesDelayed":"0",\
    "ApproximateNumberOfMessagesNotVisible":"0"}}"""
        .formatted(visible);
  }

  private static String sent(String body) {
    return ENTRY
        .matcher(body)
        .results()
        .map(
            entry ->
                """
                {"Id":"%s","MessageId":"m","MD5OfMessageBody":"%s"}"""
                    .formatted(entry.group(1), md5(entry.group(2).replace("\\\"", "\""))))
        .collect(Collectors.joining(",", "{\"Successful\":[", "],\"Failed\":[]}"));
  }

  private static String md5(String text) {
    try {
      return HexFormat.of()
          .formatHex(MessageDigest.getInstance("MD5").digest(text.getBytes(UTF_8)));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static String json(Map<String, AttributeValue> row) {
    return row.entrySet().stream()
        .map(each -> "\"" + each.getKey() + "\":{" + json(each.getValue()) + "}")
        .collect(Collectors.joining(",", "{", "}"));
  }

  private static String json(AttributeValue value) {
    return Stream.of(value)
        .map(each -> each.s() != null ? "\"S\":\"" + each.s() + "\"" : "\"N\":\"" + each.n() + "\"")
        .findFirst()
        .orElseThrow();
  }
}
