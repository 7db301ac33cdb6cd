package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.engines.QueueEngine;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.RequestFaults;
import dev.tollgate.local.iam.Policies;
import dev.tollgate.local.scheduler.Scheduler;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Schedules with universal targets over the real queues behind the front door. */
@Timeout(60)
final class UniversalTargetTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String URLS = "https://sqs.us-east-1.amazonaws.com/000000000000/";
  private static final String SEND = "arn:aws:scheduler:::aws-sdk:sqs:sendMessage";
  private static final String SEND_BATCH = SEND + "Batch";

  private final ManualClock clock = new ManualClock(Instant.parse("2026-01-01T00:00:30Z"));
  private final RecordedRequests requests = new RecordedRequests();
  private final Faults faults = new Faults(FaultPlan.none());
  private final AccessKeys keys = new AccessKeys();
  private final List<AutoCloseable> parts = new ArrayList<>();
  private ServiceClient client;
  private Scheduler scheduler;

  @BeforeEach
  void start() throws Exception {
    QueueEngine queues =
        opened(new QueueEngine(Optional.empty(), Environment.of("Test", clock), queue -> false));
    Endpoint frontDoor =
        opened(
            new Endpoint(
                keys,
                Authorization.NONE,
                requests,
                new RequestFaults(faults, caller -> false, function -> false, function -> {})
                    ::before,
                clock));
    frontDoor.serve("sqs", queues.handler());
    client = client(frontDoor, "test");
    scheduler =
        opened(
            new Scheduler(
                Environment.of("App", clock),
                new ScheduleTargets(
                    (function, payload) -> Optional.empty(),
                    new AssumedRoles(
                        "Scheduler",
                        "scheduler.amazonaws.com",
                        principal -> new ServiceClient(frontDoor.endpoint(), keys.issue(principal)),
                        new Policies(false, resource -> Optional.empty())),
                    "000000000000",
                    group -> {}),
                name -> List.of(Duration.ZERO),
                group -> Duration.ZERO,
                Optional.empty()));
    scheduler.start();
    for (String queue : new String[] {"bucket", "dead"}) {
      call("CreateQueue", JSON.createObjectNode().put("QueueName", queue));
    }
    requests.clear();
  }

  @AfterEach
  void stop() throws Exception {
    for (int i = parts.size() - 1; i >= 0; i--) {
      parts.get(i).close();
    }
  }

  @Test
  void batch_isSent_every_minute_through_the_front_door() throws Exception {
    ObjectNode request = request("bucket");
    request
        .putArray("Entries")
        .add(entry("0", "at <aws.scheduler.scheduled-time>"))
        .add(entry("1", "later").put("DelaySeconds", 30));
    schedule(SEND_BATCH, request);

    settleAfter(Duration.ofSeconds(30));

    assertThat(bodies("bucket")).containsExactly("at 2026-01-01T00:01:00Z");
    assertThat(requests.of("Scheduler"))
        .extracting(
            r -> r.service(), r -> r.operation(), r -> r.resource().orElse(""), r -> r.status())
        .containsExactly(tuple("sqs", "SendMessageBatch", "bucket", 200));
    settleAfter(Duration.ofMinutes(1));
    assertThat(bodies("bucket")).containsExactlyInAnyOrder("later", "at 2026-01-01T00:02:00Z");
  }

  @Test
  void message_isSent() throws Exception {
    schedule(SEND, request("bucket").put("MessageBody", "<aws.scheduler.attempt-number>"));

    settleAfter(Duration.ofSeconds(30));

    assertThat(bodies("bucket")).containsExactly("1");
  }

  @Test
  void the_deletion_of_a_stack_is_refused_when_it_is_due() throws Exception {
    schedule(
        "arn:aws:scheduler:::aws-sdk:cloudformation:deleteStack",
        JSON.createObjectNode().put("StackName", "App"));

    settleAfter(Duration.ofSeconds(30));

    assertThat(bodies("dead")).containsExactly("{\"StackName\":\"App\"}");
  }

  @Test
  void batch_that_fails_in_part_isSent_once_and_is_no_dead_letter() throws Exception {
    ObjectNode request = request("bucket");
    request
        .putArray("Entries")
        .add(entry("0", "good"))
        .add(entry("1", "delayed too long").put("DelaySeconds", 901));
    schedule(SEND_BATCH, request);

    settleAfter(Duration.ofSeconds(30));
    settleAfter(Duration.ofSeconds(20));

    assertThat(requests.of("Scheduler"))
        .extracting(r -> r.operation(), r -> r.status())
        .containsExactly(tuple("SendMessageBatch", 200));
    assertThat(bodies("bucket")).containsExactly("good");
  }

  @Test
  void request_to_a_missing_queue_isDeadLettered_at_once() throws Exception {
    ObjectNode request = request("missing").put("MessageBody", "<aws.scheduler.scheduled-time>");
    schedule(SEND, request);

    settleAfter(Duration.ofSeconds(30));

    JsonNode letter = receive("dead").get(0);
    assertThat(JSON.readTree(letter.path("Body").asText()))
        .isEqualTo(request.put("MessageBody", "2026-01-01T00:01:00Z"));
    JsonNode attributes = letter.path("MessageAttributes");
    assertThat(attributes.at("/TARGET_ARN/StringValue").asText()).isEqualTo(SEND);
    assertThat(attributes.at("/ERROR_CODE/StringValue").asText()).isEqualTo("QueueDoesNotExist");
    assertThat(attributes.at("/RETRY_ATTEMPTS/StringValue").asText()).isEqualTo("0");
  }

  @Test
  void request_that_a_fault_strikes_isRepeated() throws Exception {
    ObjectNode request = request("bucket");
    request.putArray("Entries").add(entry("0", "token"));
    schedule(SEND_BATCH, request);
    try (var fault =
        faults.inject(
            call -> call.principal().name().equals("Scheduler"),
            1,
            new Fault.Refused(503, "ServiceUnavailable", "down"))) {
      settleAfter(Duration.ofSeconds(30));
      assertThat(fault.count()).isOne();
      assertThat(bodies("bucket")).isEmpty();

      settleAfter(Duration.ofSeconds(1));
    }

    assertThat(bodies("bucket")).containsExactly("token");
    assertThat(receive("dead")).isEmpty();
  }

  private void settleAfter(Duration time) throws InterruptedException {
    clock.advance(time);
    scheduler.settle();
  }

  private void schedule(String arn, ObjectNode request) {
    ObjectNode members = JSON.createObjectNode().put("ScheduleExpression", "cron(* * * * ? *)");
    members.putObject("FlexibleTimeWindow").put("Mode", "OFF");
    ObjectNode target = members.putObject("Target");
    target.put("Arn", arn);
    target.put("RoleArn", "arn:aws:iam::000000000000:role/Filler");
    target.put("Input", request.toString());
    target.putObject("DeadLetterConfig").put("Arn", "arn:aws:sqs:us-east-1:000000000000:dead");
    scheduler.createSchedule("fill", members);
  }

  private List<String> bodies(String queue) {
    return StreamSupport.stream(receive(queue).spliterator(), false)
        .map(message -> message.path("Body").asText())
        .toList();
  }

  private JsonNode receive(String queue) {
    ObjectNode request =
        request(queue).put("MaxNumberOfMessages", 10).put("VisibilityTimeout", 3600);
    request.putArray("MessageAttributeNames").add("All");
    return call("ReceiveMessage", request).path("Messages");
  }

  private JsonNode call(String operation, ObjectNode request) {
    ServiceClient.Answer answer = client.call("sqs", "AmazonSQS." + operation, request);
    assertThat(answer.status()).as("%s", answer).isEqualTo(200);
    return answer.body();
  }

  private ServiceClient client(Endpoint frontDoor, String name) {
    return new ServiceClient(
        frontDoor.endpoint(),
        keys.issue(Principal.of(name, "arn:aws:iam::000000000000:role/" + name)));
  }

  private <T extends AutoCloseable> T opened(T part) {
    parts.add(part);
    return part;
  }

  private static ObjectNode request(String queue) {
    return JSON.createObjectNode().put("QueueUrl", URLS + queue);
  }

  private static ObjectNode entry(String id, String body) {
    return JSON.createObjectNode().put("Id", id).put("MessageBody", body);
  }
}
