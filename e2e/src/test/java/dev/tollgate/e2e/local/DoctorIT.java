package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.scheduler.model.GetScheduleResponse;
import software.amazon.awssdk.services.scheduler.model.ScheduleState;
import software.amazon.awssdk.services.scheduler.model.ScheduleSummary;
import software.amazon.awssdk.services.scheduler.model.UpdateScheduleRequest;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** The doctor finds and repairs what was deleted, edited or created with the AWS SDK. */
final class DoctorIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Path ASSEMBLY = Path.of("../infra/target/cdk.out").toAbsolutePath();

  private static final LocalDeployment DEPLOYMENT = LocalDeployment.own();
  private static final SqsClient SQS = DEPLOYMENT.inspect(SqsClient.builder());
  private static final SchedulerClient SCHEDULER = DEPLOYMENT.inspect(SchedulerClient.builder());
  private static final String FILLED =
      """
      {"isolation":"POOL","fillMode":"%s","limits":{"tenantPerMinute":6,"sessionPerMinute":5,
       "connectionsPerSession":2,"tenantConnections":10,"sessionTTL":200,"messagesPerMinute":6}}""";

  @TempDir private Path directory;
  private final HttpClient http = HttpClient.newHttpClient();

  @AfterAll
  static void close() {
    SQS.close();
    SCHEDULER.close();
    DEPLOYMENT.close();
  }

  private static List<JsonNode> repair() {
    return LocalDeployment.allFindings(
        query -> DEPLOYMENT.control("POST", "/repairs" + query, "{}").body().toString());
  }

  private static Set<String> drift() {
    return described(
        LocalDeployment.allFindings(
            query -> DEPLOYMENT.control("GET", "/drift" + query).body().toString()));
  }

  private static Set<String> described(Collection<JsonNode> findings) {
    return findings.stream()
        .map(
            finding ->
                finding.path("kind").asText()
                    + " "
                    + finding.path("resource").asText()
                    + " "
                    + finding.path("name").asText())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static String queue(String name) {
    return SQS.getQueueUrl(r -> r.queueName(name + "_token_bucket")).queueUrl();
  }

  private static void edit(String name, UnaryOperator<UpdateScheduleRequest.Builder> change) {
    GetScheduleResponse current = SCHEDULER.getSchedule(r -> r.groupName(group()).name(name));
    SCHEDULER.updateSchedule(
        change
            .apply(
                UpdateScheduleRequest.builder()
                    .groupName(current.groupName())
                    .name(name)
                    .scheduleExpression(current.scheduleExpression())
                    .flexibleTimeWindow(current.flexibleTimeWindow())
                    .state(current.state())
                    .target(current.target()))
            .build());
  }

  private static String group() {
    return SCHEDULER.listSchedules(r -> r.namePrefix("sweep")).schedules().get(0).groupName();
  }

  private static long level(String tenant) {
    for (JsonNode bucket : DEPLOYMENT.control("GET", "/tenants/" + tenant).body().path("buckets")) {
      if (bucket.path("action").asText().equals("connect")) {
        return bucket.path("level").asLong();
      }
    }
    throw new AssertionError(tenant);
  }

  @Test
  void manual_changes_are_found_and_repaired_and_buckets_fill_again() throws Exception {
    for (String mode : List.of("PRODUCER", "DIRECT", "SHARED")) {
      DEPLOYMENT.control(
          "PUT", "/tiers/" + mode.toLowerCase(java.util.Locale.ROOT), FILLED.formatted(mode));
    }
    for (String tenant : List.of("drained", "unscheduled", "stopped", "slowed", "untouched")) {
      assertThat(DEPLOYMENT.onboard(tenant, "producer", "{}").status()).isEqualTo(201);
    }
    assertThat(DEPLOYMENT.onboard("forgetful", "direct", "{}").status()).isEqualTo(201);
    assertThat(DEPLOYMENT.onboard("together", "shared", "{}").status()).isEqualTo(201);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(drift()).isEmpty();

    SQS.deleteQueue(r -> r.queueUrl(queue("connect_drained")));
    SCHEDULER.deleteSchedule(r -> r.groupName(group()).name("connect_unscheduled"));
    edit("connect_stopped", update -> update.state(ScheduleState.DISABLED));
    edit("message_slowed", update -> update.scheduleExpression("rate(5 minutes)"));
    edit(
        "connect_untouched",
        update -> update.target(update.build().target().toBuilder().input("{}").build()));
    SQS.setQueueAttributes(
        r ->
            r.queueUrl(queue("connect_forgetful"))
                .attributes(Map.of(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "3600")));
    String shard =
        SCHEDULER.listSchedules(r -> r.namePrefix("shard-")).schedules().stream()
            .map(ScheduleSummary::name)
            .sorted()
            .toList()
            .get(0);
    edit(shard, update -> update.state(ScheduleState.DISABLED));
    SQS.createQueue(
        r ->
            r.queueName("connect_ghost_token_bucket")
                .tags(Map.of("tollgate-deployment", "Tollgate")));
    SQS.createQueue(r -> r.queueName("connect_stranger_token_bucket"));
    SQS.createQueue(r -> r.queueName("somebody-elses_queue"));
    GetScheduleResponse model =
        SCHEDULER.getSchedule(r -> r.groupName(group()).name("message_stopped"));
    SCHEDULER.createSchedule(
        r ->
            r.groupName(model.groupName())
                .name("message_ghost")
                .scheduleExpression(model.scheduleExpression())
                .flexibleTimeWindow(model.flexibleTimeWindow())
                .target(model.target()));

    Set<String> expected =
        new TreeSet<>(
            Set.of(
                "MISSING queue connect_drained",
                "MISSING schedule connect_unscheduled",
                "DIFFERS schedule connect_stopped",
                "DIFFERS schedule message_slowed",
                "DIFFERS schedule connect_untouched",
                "DIFFERS queue connect_forgetful",
                "DIFFERS shard-schedule " + shard,
                "ORPHANED queue connect_ghost",
                "ORPHANED queue connect_stranger",
                "ORPHANED schedule message_ghost"));
    assertThat(drift()).isEqualTo(expected);
    List<JsonNode> repaired = repair();
    assertThat(described(repaired)).isEqualTo(expected);
    assertThat(repaired)
        .filteredOn(finding -> !finding.path("repaired").asBoolean())
        .extracting(finding -> finding.path("name").asText())
        .as("a deleted queue can be created again after a minute; a queue without the tag stays")
        .containsExactlyInAnyOrder("connect_drained", "connect_stranger");

    DEPLOYMENT.advance(Duration.ofMinutes(2));
    assertThat(drift()).containsExactly("ORPHANED queue connect_stranger");
    SQS.deleteQueue(r -> r.queueUrl(queue("connect_stranger")));
    assertThat(drift()).isEmpty();
    assertThat(SQS.listQueues(r -> r.queueNamePrefix("somebody")).queueUrls()).hasSize(1);
    DEPLOYMENT.advance(Duration.ofMinutes(2));
    for (String tenant : List.of("drained", "unscheduled", "stopped", "untouched", "together")) {
      assertThat(level(tenant)).as(tenant).isEqualTo(6);
    }
    assertThat(drift()).isEmpty();
  }

  // A cloud that is killed during requests.

  private String send(String method, String url, String body) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(url))
            .header("content-type", "application/json")
            .timeout(Duration.ofSeconds(60))
            .method(method, BodyPublishers.ofString(body))
            .build();
    try {
      HttpResponse<String> response = http.send(request, BodyHandlers.ofString());
      return response.body();
    } catch (IOException e) {
      throw new IllegalStateException(url, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(url, e);
    }
  }

  private CloudProcess start() throws IOException {
    return CloudProcess.start(ASSEMBLY, directory.resolve("data"), directory.resolve("up.log"));
  }

  @Test
  void a_cloud_killed_during_requests_is_consistent_after_one_repair() throws Exception {
    CloudProcess before = start();
    String plane = before.output("ControlPlaneURL");
    send("PUT", plane + "/tiers/shared", FILLED.formatted("SHARED"));
    AtomicInteger done = new AtomicInteger();
    CountDownLatch busy = new CountDownLatch(20);
    ExecutorService clients = Executors.newFixedThreadPool(8);
    for (int number = 0; number < 16; number++) {
      String tenant = "tenant-" + number;
      String other = number % 2 == 0 ? "shared" : "silver";
      String end = number % 3 == 0 ? "DELETE" : "GET";
      clients.execute(
          () -> {
            try {
              String url = plane + "/tenants";
              send("POST", url, "{\"tenantId\":\"" + tenant + "\",\"tier\":\"bronze\"}");
              done.incrementAndGet();
              busy.countDown();
              send("PATCH", url + "/" + tenant, "{\"tier\":\"" + other + "\"}");
              done.incrementAndGet();
              busy.countDown();
              send(end, url + "/" + tenant, "");
              done.incrementAndGet();
              busy.countDown();
            } catch (IllegalStateException e) {
              // The cloud was killed.
            }
          });
    }
    assertThat(busy.await(2, TimeUnit.MINUTES)).as("the cloud processes requests").isTrue();
    before.kill();
    clients.shutdown();
    assertThat(clients.awaitTermination(60, TimeUnit.SECONDS)).isTrue();
    assertThat(done.get()).as("the cloud was processing requests").isLessThan(48);

    CloudProcess after = start();
    try {
      String now = after.output("ControlPlaneURL");
      List<JsonNode> repaired =
          LocalDeployment.allFindings(query -> send("POST", now + "/repairs" + query, "{}"));
      assertThat(LocalDeployment.allFindings(query -> send("GET", now + "/drift" + query, "")))
          .as("after the repair of %s", repaired)
          .isEmpty();
      assertProvided(after, JSON.readTree(send("GET", now + "/tenants", "")).path("tenants"));
    } finally {
      after.kill();
    }
  }

  /** Asserts that exactly the queues and schedules exist that the tenants need. */
  private static void assertProvided(CloudProcess cloud, JsonNode tenants) {
    assertThat(tenants).isNotEmpty();
    Set<String> queues = new TreeSet<>();
    Set<String> schedules = new TreeSet<>();
    for (JsonNode tenant : tenants) {
      for (String action : List.of("connect", "message")) {
        String bucket = action + "_" + tenant.path("tenantId").asText();
        queues.add(bucket + "_token_bucket");
        if (!tenant.path("tier").asText().equals("shared")) {
          schedules.add(bucket);
        }
      }
    }
    try (SqsClient sqs = cloud.client(SqsClient.builder());
        SchedulerClient scheduler = cloud.client(SchedulerClient.builder())) {
      assertThat(sqs.listQueues().queueUrls())
          .extracting(url -> url.substring(url.lastIndexOf('/') + 1))
          .filteredOn(name -> name.endsWith("_token_bucket"))
          .containsExactlyInAnyOrderElementsOf(queues);
      assertThat(scheduler.listSchedulesPaginator(r -> {}).schedules())
          .extracting(ScheduleSummary::name)
          .filteredOn(name -> name.contains("_"))
          .containsExactlyInAnyOrderElementsOf(schedules);
    }
  }
}
