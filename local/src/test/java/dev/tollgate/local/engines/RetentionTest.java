package dev.tollgate.local.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.FIFO_QUEUE;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.MESSAGE_RETENTION_PERIOD;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.REDRIVE_POLICY;
import static software.amazon.awssdk.services.sqs.model.QueueAttributeName.VISIBILITY_TIMEOUT;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** Messages that grow older than their queue's retention, by the clock of the cloud. */
@Timeout(120)
final class RetentionTest {
  private static final Duration JUST_NOT = Duration.ofSeconds(59);
  private static final Duration SECOND = Duration.ofSeconds(1);

  private final ManualClock clock = new ManualClock(Instant.parse("2026-01-01T00:00:00.123Z"));
  private final AccessKeys keys = new AccessKeys();

  @TempDir private Path directory;
  private QueueEngine queues;
  private Endpoint frontDoor;
  private SqsClient sqs;

  @BeforeEach
  void start() throws Exception {
    start(Optional.empty());
  }

  @AfterEach
  void stop() {
    sqs.close();
    frontDoor.close();
    queues.close();
  }

  @Test
  void visible_message_isGone_when_its_time_isUp() {
    String url = create("visible", "60");
    send(url, "a");

    clock.advance(JUST_NOT);
    assertThat(counts(url)).containsExactly(1, 0, 0);
    assertThat(bodies(receive(url, 0))).containsExactly("a");

    clock.advance(SECOND);
    assertThat(counts(url)).containsExactly(0, 0, 0);
    assertThat(receive(url, 0)).isEmpty();
  }

  @Test
  void only_what_isTooOld_isGone() {
    String url = create("some", "60");
    send(url, "a");
    clock.advance(Duration.ofSeconds(30));
    send(url, "b");

    clock.advance(Duration.ofSeconds(30));

    assertThat(counts(url)).containsExactly(1, 0, 0);
    assertThat(bodies(receive(url, 0))).containsExactly("b");
  }

  @Test
  void delay_does_not_prolong_a_message() {
    String url = create("delayed", "60");
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("never").delaySeconds(900));
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("late").delaySeconds(59));

    clock.advance(JUST_NOT);
    assertThat(counts(url)).containsExactly(1, 0, 1);
    assertThat(bodies(receive(url, 0))).containsExactly("late");

    clock.advance(SECOND);
    assertThat(counts(url)).containsExactly(0, 0, 0);
    clock.advance(Duration.ofMinutes(15));
    assertThat(receive(url, 0)).isEmpty();
  }

  @Test
  void message_in_flight_expires_and_never_comes_back() {
    String url = create("flying", "60");
    send(url, "a");
    Message received = receive(url, 40).get(0);

    clock.advance(JUST_NOT.minusSeconds(20));
    assertThat(counts(url)).containsExactly(0, 1, 0);
    clock.advance(Duration.ofSeconds(20));
    Message again = receive(url, 40).get(0);
    clock.advance(SECOND);

    assertThat(counts(url)).containsExactly(0, 0, 0);
    for (Message each : List.of(received, again)) {
      assertThatThrownBy(
              () ->
                  sqs.changeMessageVisibility(
                      r ->
                          r.queueUrl(url).receiptHandle(each.receiptHandle()).visibilityTimeout(0)))
          .isInstanceOf(SqsException.class);
    }
    assertThat(receive(url, 0)).isEmpty();
    clock.advance(Duration.ofHours(12));
    assertThat(receive(url, 0)).isEmpty();
  }

  @Test
  void group_of_a_message_in_flight_isFree_when_that_expires() {
    String url = create("group.fifo", Map.of(FIFO_QUEUE, "true", MESSAGE_RETENTION_PERIOD, "60"));
    sendToGroup(url, "a", "g");
    clock.advance(Duration.ofSeconds(10));
    sendToGroup(url, "b", "g");
    sendToGroup(url, "c", "other");
    Set<String> flying = new HashSet<>();
    for (int i = 0; i < 3; i++) {
      flying.addAll(bodies(receive(url, 600, 1)));
    }
    assertThat(flying).containsExactlyInAnyOrder("a", "c");

    clock.advance(Duration.ofSeconds(50));

    assertThat(bodies(receive(url, 600))).containsExactly("b");
    assertThat(counts(url)).containsExactly(0, 2, 0);
    clock.advance(Duration.ofSeconds(10));
    assertThat(counts(url)).containsExactly(0, 0, 0);
  }

  @Test
  void changed_retention_holds_at_once_for_messages_that_are_there() {
    String url = create("changed", Map.of());
    send(url, "a");
    clock.advance(Duration.ofDays(4).minusSeconds(1));
    assertThat(counts(url)).containsExactly(1, 0, 0);

    retain(url, "1209600");
    clock.advance(Duration.ofDays(10));
    assertThat(counts(url)).containsExactly(1, 0, 0);
    clock.advance(SECOND);
    assertThat(counts(url)).containsExactly(0, 0, 0);

    send(url, "b");
    clock.advance(Duration.ofSeconds(61));
    assertThat(counts(url)).containsExactly(1, 0, 0);
    retain(url, "60");
    assertThat(counts(url)).containsExactly(0, 0, 0);
  }

  @Test
  void longer_retention_brings_nothing_back() {
    String url = create("longer", "60");
    send(url, "a");
    clock.advance(Duration.ofSeconds(60));

    retain(url, "120");

    assertThat(counts(url)).containsExactly(0, 0, 0);
    assertThat(receive(url, 0)).isEmpty();
  }

  @Test
  void message_on_the_dead_letter_queue_isAsOld_as_it_was() {
    String dead = create("dead", "120");
    String url =
        create(
            "redriven",
            Map.of(
                MESSAGE_RETENTION_PERIOD,
                "600",
                REDRIVE_POLICY,
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dead\",\"maxReceiveCount\":1}"));
    send(url, "a");
    send(url, "b");
    receive(url, 30);
    clock.advance(Duration.ofSeconds(90));
    assertThat(receive(url, 30)).isEmpty();

    assertThat(sqs.receiveMessage(r -> r.queueUrl(dead).waitTimeSeconds(5)).messages()).hasSize(1);
    clock.advance(Duration.ofSeconds(29));
    assertThat(counts(dead).stream().mapToInt(i -> i).sum()).isEqualTo(2);
    clock.advance(SECOND);

    assertThat(counts(dead)).containsExactly(0, 0, 0);
  }

  @Test
  void message_on_the_dead_letter_queue_of_a_fifo_queue_counts_from_its_arrival() {
    String dead = create("dead.fifo", Map.of(FIFO_QUEUE, "true", MESSAGE_RETENTION_PERIOD, "120"));
    String url =
        create(
            "redriven.fifo",
            Map.of(
                FIFO_QUEUE,
                "true",
                REDRIVE_POLICY,
                "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dead.fifo\",\"maxReceiveCount\":1}"));
    sendToGroup(url, "a", "g");
    receive(url, 30);
    clock.advance(Duration.ofSeconds(90));
    assertThat(receive(url, 30)).isEmpty();
    assertThat(sqs.receiveMessage(r -> r.queueUrl(dead).waitTimeSeconds(5)).messages()).hasSize(1);

    clock.advance(Duration.ofSeconds(119));
    assertThat(counts(dead)).containsExactly(1, 0, 0);
    clock.advance(SECOND);
    assertThat(counts(dead)).containsExactly(0, 0, 0);
  }

  @Test
  void waiting_receive_does_not_get_what_expires_meanwhile() {
    String url = create("waiting", "60");
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("old").delaySeconds(1));
    CompletableFuture<List<Message>> waiting =
        CompletableFuture.supplyAsync(
            () -> sqs.receiveMessage(r -> r.queueUrl(url).waitTimeSeconds(3)).messages());
    // Time for the request to arrive. If it has not, it gets nothing either.
    IntStream.range(0, 30).forEach(i -> counts(url));

    clock.advance(Duration.ofSeconds(60));

    assertThat(waiting.join()).isEmpty();
    assertThat(counts(url)).containsExactly(0, 0, 0);
  }

  @Test
  void waiting_receive_gets_what_isSent_after_others_expired() {
    String url = create("waiting-on", "60");
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("old").delaySeconds(30));
    CompletableFuture<List<Message>> waiting =
        CompletableFuture.supplyAsync(
            () -> sqs.receiveMessage(r -> r.queueUrl(url).waitTimeSeconds(20)).messages());
    IntStream.range(0, 30).forEach(i -> counts(url));
    clock.advance(Duration.ofSeconds(60));

    send(url, "new");

    assertThat(bodies(waiting.join())).containsExactly("new");
  }

  @Test
  void messages_expire_after_a_restart_by_when_they_were_sent() throws Exception {
    stop();
    start(Optional.of(directory));
    String url = create("kept", "60");
    String fifo = create("kept.fifo", Map.of(FIFO_QUEUE, "true", MESSAGE_RETENTION_PERIOD, "60"));
    send(url, "visible");
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("delayed").delaySeconds(300));
    sendToGroup(fifo, "in flight", "g");
    receive(fifo, 600);
    clock.advance(Duration.ofSeconds(30));
    send(url, "younger");
    stop();

    start(Optional.of(directory));
    clock.advance(Duration.ofSeconds(29));
    assertThat(counts(url)).containsExactly(2, 0, 1);
    assertThat(counts(fifo)).containsExactly(0, 1, 0);
    clock.advance(SECOND);
    assertThat(counts(url)).containsExactly(1, 0, 0);
    assertThat(counts(fifo)).containsExactly(0, 0, 0);
    stop();

    start(Optional.of(directory));
    assertThat(counts(url)).as("what has expired is not written down").containsExactly(1, 0, 0);
    assertThat(counts(fifo)).containsExactly(0, 0, 0);
    assertThat(bodies(receive(url, 0))).containsExactly("younger");
  }

  @Test
  void sentTimestamp_isThe_clocks() throws Exception {
    stop();
    start(Optional.of(directory));
    String url = create("dated", Map.of());
    long sent = clock.millis();
    send(url, "a");
    clock.advance(Duration.ofSeconds(5));
    assertThat(sentTimestamp(url)).isEqualTo(sent);
    stop();

    start(Optional.of(directory));
    assertThat(sentTimestamp(url)).isEqualTo(sent);
  }

  @Test
  void bucket_that_nobody_receives_from_turns_over_for_hours() {
    String url = create("idle", "60");
    for (int minute = 0; minute < 40; minute++) {
      sendTen(url, minute);
      assertThat(counts(url)).containsExactly(10, 0, 0);
      clock.advance(Duration.ofMinutes(1));
    }
    sendTen(url, 40);

    assertThat(bodies(receive(url, 30)))
        .containsExactlyInAnyOrderElementsOf(
            IntStream.range(0, 10).mapToObj(i -> 40 + "/" + i).toList());
    assertThat(receive(url, 30)).isEmpty();
  }

  private void start(Optional<Path> data) throws Exception {
    queues = new QueueEngine(data, Environment.of("Test", clock), queue -> false);
    frontDoor =
        new Endpoint(keys, Authorization.NONE, new RecordedRequests(), handler -> handler, clock);
    frontDoor.serve("sqs", queues.handler());
    AccessKey key = keys.issue(Principal.of("test", "arn:aws:iam::000000000000:role/test"));
    sqs =
        SqsClient.builder()
            .region(Region.US_EAST_1)
            .endpointOverride(frontDoor.endpoint())
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsSessionCredentials.create(
                        key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
            .build();
  }

  private String create(String name, String retentionSeconds) {
    return create(name, Map.of(MESSAGE_RETENTION_PERIOD, retentionSeconds));
  }

  private String create(String name, Map<QueueAttributeName, String> attributes) {
    Map<QueueAttributeName, String> all = new HashMap<>(attributes);
    all.put(VISIBILITY_TIMEOUT, "30");
    return sqs.createQueue(r -> r.queueName(name).attributes(all)).queueUrl();
  }

  private void retain(String url, String seconds) {
    sqs.setQueueAttributes(
        r -> r.queueUrl(url).attributes(Map.of(MESSAGE_RETENTION_PERIOD, seconds)));
  }

  private void send(String url, String body) {
    sqs.sendMessage(r -> r.queueUrl(url).messageBody(body));
  }

  private void sendTen(String url, int minute) {
    sqs.sendMessageBatch(
        r ->
            r.queueUrl(url)
                .entries(
                    IntStream.range(0, 10)
                        .mapToObj(
                            i ->
                                SendMessageBatchRequestEntry.builder()
                                    .id("i" + i)
                                    .messageBody(minute + "/" + i)
                                    .build())
                        .toList()));
  }

  private void sendToGroup(String url, String body, String group) {
    sqs.sendMessage(
        r ->
            r.queueUrl(url)
                .messageBody(body)
                .messageGroupId(group)
                .messageDeduplicationId(group + body.hashCode()));
  }

  private List<Message> receive(String url, int visibilitySeconds) {
    return receive(url, visibilitySeconds, 10);
  }

  private List<Message> receive(String url, int visibilitySeconds, int max) {
    return sqs.receiveMessage(
            r ->
                r.queueUrl(url)
                    .maxNumberOfMessages(max)
                    .visibilityTimeout(visibilitySeconds)
                    .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
        .messages();
  }

  private long sentTimestamp(String url) {
    return Long.parseLong(
        receive(url, 0).get(0).attributes().get(MessageSystemAttributeName.SENT_TIMESTAMP));
  }

  private static List<String> bodies(List<Message> messages) {
    return messages.stream().map(Message::body).toList();
  }

  /** How many messages are visible, in flight and delayed. */
  private List<Integer> counts(String url) {
    Map<QueueAttributeName, String> attributes =
        sqs.getQueueAttributes(r -> r.queueUrl(url).attributeNames(QueueAttributeName.ALL))
            .attributes();
    return List.of(
            APPROXIMATE_NUMBER_OF_MESSAGES,
            APPROXIMATE_NUMBER_OF_MESSAGES_NOT_VISIBLE,
            APPROXIMATE_NUMBER_OF_MESSAGES_DELAYED)
        .stream()
        .map(name -> Integer.valueOf(attributes.getOrDefault(name, "-1")))
        .toList();
  }
}
