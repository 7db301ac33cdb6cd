package dev.tollgate.e2e.local;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.Faults.Injection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/** Messages from a client through a queue to the application, and the replies to the client. */
final class MessagesIT {
  private static final LocalDeployment DEPLOYMENT = LocalDeployment.shared();

  /**
   * The number of messages of one socket: more than ten batches of a queue, and several windows of
   * acknowledged frames.
   */
  private static final int MANY = 60 * Integer.getInteger("tests.times", 1);

  /**
   * The number of frames that a client sends before it waits until the first of them is accepted.
   */
  private static final int WINDOW = 20;

  private static Handshake connected(String tenant, String session) {
    Handshake handshake = DEPLOYMENT.connect(tenant, session);
    assertThat(handshake.status()).isEqualTo(101);
    return handshake;
  }

  private static String frame(String action, String id, String message) {
    return "{\"action\":\"%s\",\"id\":\"%s\",\"message\":%s}".formatted(action, id, message);
  }

  private static List<String> ids(List<JsonNode> frames) {
    return frames.stream().map(frame -> frame.get("id").asText()).toList();
  }

  private static List<String> numbered(int count) {
    return IntStream.range(0, count).mapToObj(i -> "m-" + i).toList();
  }

  /** Sends numbered messages, and waits so that at most a window of them is not yet accepted. */
  private static void sendAll(Handshake from, String action, int count)
      throws InterruptedException {
    for (int i = 0; i < count; i++) {
      if (i >= WINDOW) {
        from.frames().await("accepted", i - WINDOW + 1);
      }
      from.send(frame(action, "m-" + i, Integer.toString(i)));
    }
    from.frames().await("accepted", count);
  }

  @ParameterizedTest
  @CsvSource({"SiloSQS, chat-silo", "PooledSQS, chat-pool"})
  void many_messages_reach_all_sockets_of_a_session_in_order(String action, String tenant)
      throws Exception {
    String limits = "{\"messagesPerMinute\":%d}".formatted(MANY);
    assertThat(DEPLOYMENT.onboard(tenant, "gold", limits).status()).isEqualTo(201);
    String session = DEPLOYMENT.open(tenant);
    Handshake one = connected(tenant, session);
    Handshake other = connected(tenant, session);

    sendAll(one, action, MANY);

    assertThat(ids(one.frames().of("accepted"))).isEqualTo(numbered(MANY));
    List<JsonNode> replies = one.frames().await("reply", MANY);
    assertThat(ids(replies)).isEqualTo(numbered(MANY));
    assertThat(replies.get(7).get("message").asInt()).isEqualTo(7);
    assertThat(ids(other.frames().await("reply", MANY))).isEqualTo(numbered(MANY));
    assertThat(ids(other.frames().await("message", MANY))).isEqualTo(numbered(MANY));
    DEPLOYMENT.cloud().settle();
    assertThat(one.frames().texts()).hasSize(2 * MANY);
    assertThat(other.frames().texts()).hasSize(2 * MANY);
    DEPLOYMENT.close(one);
    DEPLOYMENT.close(other);
  }

  @Test
  void messages_of_many_sessions_arrive_once_and_in_order_during_a_flood() throws Exception {
    int sessions = 20;
    int each = MANY / 3;
    long logged = Files.size(LocalDeployment.LOG);
    DEPLOYMENT.onboard("busy", "gold", "{\"messagesPerMinute\":%d}".formatted(sessions * each));
    DEPLOYMENT.onboard("flood", "bronze", "{}");
    Handshake flooding = connected("flood", DEPLOYMENT.open("flood"));
    List<Handshake> clients = new ArrayList<>();
    for (int i = 0; i < sessions; i++) {
      clients.add(connected("busy", DEPLOYMENT.open("busy")));
    }
    ExecutorService threads = Executors.newFixedThreadPool(sessions + 1);
    try {
      List<Callable<Void>> senders = new ArrayList<>();
      senders.add(
          () -> {
            for (int i = 0; i < 1000 && !flooding.closed().isDone(); i++) {
              send(flooding, frame("PooledSQS", "m-" + i, "1"));
            }
            return null;
          });
      for (int i = 0; i < sessions; i++) {
        Handshake client = clients.get(i);
        String action = i % 2 == 0 ? "PooledSQS" : "SiloSQS";
        senders.add(
            () -> {
              sendAll(client, action, each);
              return null;
            });
      }
      for (Future<Void> sender : threads.invokeAll(senders)) {
        sender.get();
      }
    } finally {
      threads.shutdownNow();
    }
    DEPLOYMENT.cloud().settle();

    int missing = 0;
    for (Handshake client : clients) {
      missing += missingReplies(client, each);
      assertThat(ids(client.frames().of("accepted"))).isEqualTo(numbered(each));
      assertThat(client.frames().of("error")).isEmpty();
    }
    assertThat(missing).isLessThanOrEqualTo(undeliveredFrames("busy", logged));
    int undelivered = undeliveredFrames("flood", logged);
    assertThat(missingReplies(flooding, 60)).isLessThanOrEqualTo(undelivered);
    assertThat(flooding.closed().join()).isEqualTo(1000);
    assertThat(flooding.frames().of("error"))
        .as("sixty refusals per process, with at most one process per session")
        .hasSizeBetween(60 - undelivered, 60 * (sessions + 1))
        .allSatisfy(
            error -> {
              assertThat(error.get("code").asText()).isEqualTo("THROTTLED");
              // No slot is later than five minutes after the next token.
              assertThat(error.get("retryAfterSeconds").asLong()).isBetween(1L, 370L);
            });
    clients.forEach(client -> client.socket().abort());
  }

  /** How many of the replies to numbered messages are missing. The others came once, in order. */
  private static int missingReplies(Handshake client, int count) {
    List<String> replies = ids(client.frames().of("reply"));
    assertThat(replies).isEqualTo(numbered(count).stream().filter(replies::contains).toList());
    return count - replies.size();
  }

  /**
   * How many frames the functions have reported as not delivered to a tenant's sockets, after this
   * many bytes of the log. A machine that stops for a second delays a frame for too long although
   * its client reads.
   */
  private static int undeliveredFrames(String tenant, long logged) throws IOException {
    byte[] log = Files.readAllBytes(LocalDeployment.LOG);
    String added = new String(log, (int) logged, log.length - (int) logged, UTF_8);
    return Pattern.compile("\"UndeliveredFrames\":([0-9]+),\"tenantId\":\"" + tenant + "\"")
        .matcher(added)
        .results()
        .mapToInt(count -> Integer.parseInt(count.group(1)))
        .sum();
  }

  /** Sends on a socket that the server may close at any moment. */
  private static void send(Handshake from, String frame) {
    try {
      from.send(frame);
    } catch (CompletionException closed) {
      from.closed().join();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"SiloSQS", "PooledSQS"})
  void bodies_arrive_byte_for_byte(String action) throws Exception {
    String tenant = "exact-" + (action.equals("SiloSQS") ? "silo" : "pool");
    DEPLOYMENT.onboard(tenant, "gold", "{}");
    Handshake client = connected(tenant, DEPLOYMENT.open(tenant));
    List<String> bodies =
        List.of(
            "\"a&MessageGroupId=x&MessageBody=y\"",
            "\"100% + 1 # 2 ? / \\\\ ; =\"",
            "\"%26%2B%00\"",
            "\"quotes \\\" and ' and \\n newlines\\r\\n\\t\"",
            "\"Grüße, 日本語, \uD83D\uDE80\uD83D\uDC69\u200D\uD83D\uDCBB, \\ud83d\\ude80\"",
            "\"$input $input.body $util.urlEncode('x') #set($a = 1) #foreach ${x} ##\"",
            "{ \"b\" : [1.0, 1e5, -0, 1E-7, 12345678901234567890.123],\n  \"a\":null, \"a\": true }",
            "null",
            "\"\"",
            "\"" + "x".repeat(60_000) + "é\uD83D\uDE80".repeat(8_000) + "\"");
    for (int i = 0; i < bodies.size(); i++) {
      client.send(frame(action, "b-" + i, bodies.get(i)));
    }
    client.frames().await("reply", bodies.size());
    List<String> replies =
        client.frames().texts().stream().filter(text -> text.contains("\"reply\"")).toList();
    for (int i = 0; i < bodies.size(); i++) {
      assertThat(replies.get(i))
          .isEqualTo(
              "{\"type\":\"reply\",\"id\":\"b-%d\",\"message\":%s}".formatted(i, bodies.get(i)));
    }
    DEPLOYMENT.close(client);
  }

  @Test
  void a_message_over_the_largest_size_closes_the_socket() throws Exception {
    DEPLOYMENT.onboard("large", "gold", "{}");
    Handshake client = connected("large", DEPLOYMENT.open("large"));
    String empty = frame("PooledSQS", "big", "\"\"");
    client.send(frame("PooledSQS", "big", "\"" + "x".repeat(128 * 1024 - empty.length()) + "\""));
    assertThat(client.frames().await("reply", 1).get(0).get("message").asText())
        .hasSize(128 * 1024 - empty.length());

    client.send(
        frame("PooledSQS", "big", "\"" + "x".repeat(128 * 1024 - empty.length() + 1) + "\""));
    assertThat(client.closed().join()).isEqualTo(1009);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"action\":\"Nowhere\",\"message\":1}",
        "{\"message\":1}",
        "{\"action\":7,\"message\":1}",
        "[]",
        "not json",
        "{\"action\":\"PooledSQS\",\"id\":\"no such & id\",\"message\":1}",
        "{\"action\":\"PooledSQS\",\"id\":{},\"message\":1}",
        "{\"action\":\"PooledSQS\"}",
      })
  void an_invalid_frame_gets_an_error_and_the_socket_stays_open(String text) throws Exception {
    DEPLOYMENT.onboard("wordy", "silver", "{}");
    Handshake client = connected("wordy", DEPLOYMENT.open("wordy"));

    client.send(text);

    JsonNode error = client.frames().await("error", 1).get(0);
    assertThat(error.get("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(error.get("detail").asText()).isNotBlank();
    client.send(frame("PooledSQS", "fine", "1"));
    assertThat(ids(client.frames().await("reply", 1))).containsExactly("fine");
    DEPLOYMENT.close(client);
    DEPLOYMENT.advance(Duration.ofSeconds(30));
  }

  @Test
  void a_binary_frame_closes_the_socket() throws Exception {
    DEPLOYMENT.onboard("binary", "silver", "{}");
    Handshake client = connected("binary", DEPLOYMENT.open("binary"));
    client.socket().sendBinary(ByteBuffer.wrap(new byte[] {1, 2, 3}), true).join();
    assertThat(client.closed().join()).isEqualTo(1003);
  }

  @Test
  void a_message_to_the_silo_of_a_pool_tenant_gets_an_error() throws Exception {
    DEPLOYMENT.onboard("pooled", "silver", "{}");
    Handshake client = connected("pooled", DEPLOYMENT.open("pooled"));
    client.send(frame("SiloSQS", "lost", "1"));
    assertThat(client.frames().await("error", 1).get(0).get("code").asText()).isEqualTo("NOT_SILO");
    DEPLOYMENT.close(client);
  }

  @Test
  void a_message_without_id_is_answered_with_its_generated_id() throws Exception {
    DEPLOYMENT.onboard("nameless", "silver", "{}");
    Handshake client = connected("nameless", DEPLOYMENT.open("nameless"));
    client.send("{\"action\":\"PooledSQS\",\"message\":\"hello\"}");
    String given = client.frames().await("accepted", 1).get(0).get("id").asText();
    assertThat(given).isNotBlank();
    assertThat(ids(client.frames().await("reply", 1))).containsExactly(given);
    DEPLOYMENT.close(client);
  }

  @Test
  void a_message_repeated_within_five_minutes_is_processed_once() throws Exception {
    DEPLOYMENT.onboard("stutter", "silver", "{}");
    Handshake client = connected("stutter", DEPLOYMENT.open("stutter"));
    for (int i = 0; i < 3; i++) {
      client.send(frame("PooledSQS", "once", "1"));
    }
    client.send(frame("PooledSQS", "last", "2"));
    client.frames().await("accepted", 4);
    client.frames().await("reply", 2);
    DEPLOYMENT.cloud().settle();
    assertThat(ids(client.frames().of("reply"))).containsExactly("once", "last");

    client.send(frame("PooledSQS", "once", "1"));
    client.send(frame("PooledSQS", "later", "3"));
    client.frames().await("reply", 3);
    DEPLOYMENT.cloud().settle();
    assertThat(ids(client.frames().of("reply"))).containsExactly("once", "last", "later");
    DEPLOYMENT.close(client);
  }

  @Test
  void a_message_repeated_through_the_other_queue_is_processed_once() throws Exception {
    DEPLOYMENT.onboard("switcher", "gold", "{}");
    Handshake client = connected("switcher", DEPLOYMENT.open("switcher"));
    client.send(frame("SiloSQS", "once", "1"));
    client.frames().await("reply", 1);
    DEPLOYMENT.cloud().settle();
    client.send(frame("PooledSQS", "once", "1"));
    client.send(frame("PooledSQS", "last", "2"));
    client.frames().await("reply", 2);
    DEPLOYMENT.cloud().settle();
    assertThat(ids(client.frames().of("reply"))).containsExactly("once", "last");
    DEPLOYMENT.close(client);
  }

  @Test
  void a_throttled_message_gets_retry_after_and_is_then_processed() throws Exception {
    DEPLOYMENT.onboard("meek", "bronze", "{\"messagesPerMinute\":2}");
    Handshake client = connected("meek", DEPLOYMENT.open("meek"));
    for (int i = 0; i < 3; i++) {
      client.send(frame("PooledSQS", "m-" + i, "1"));
    }
    JsonNode error = client.frames().await("error", 1).get(0);
    assertThat(error.get("id").asText()).isEqualTo("m-2");
    assertThat(error.get("code").asText()).isEqualTo("THROTTLED");
    DEPLOYMENT.advance(Duration.ofSeconds(error.get("retryAfterSeconds").asLong()));
    for (int i = 0; i < 2; i++) {
      client.send(frame("PooledSQS", "m-2", "1"));
    }
    assertThat(ids(client.frames().await("reply", 3))).containsExactly("m-0", "m-1", "m-2");
    client.frames().await("accepted", 5);
    DEPLOYMENT.cloud().settle();
    assertThat(ids(client.frames().of("reply"))).containsExactly("m-0", "m-1", "m-2");
    assertThat(client.frames().of("error")).hasSize(1);
    DEPLOYMENT.close(client);
  }

  @Test
  void messages_refused_together_get_slots_and_are_processed_at_their_first_return()
      throws Exception {
    int refused = 20;
    DEPLOYMENT.onboard("crowd", "bronze", "{\"messagesPerMinute\":30}");
    Handshake client = connected("crowd", DEPLOYMENT.open("crowd"));
    sendAll(client, "PooledSQS", 30 + refused);
    List<JsonNode> errors = client.frames().await("error", refused);
    DEPLOYMENT.cloud().settle();
    assertThat(client.frames().of("reply")).hasSize(30);

    List<Long> told =
        errors.stream().map(error -> error.get("retryAfterSeconds").asLong()).toList();
    assertThat(told).doesNotHaveDuplicates();
    assertThat(told.stream().max(Long::compare).orElseThrow()).isBetween(38L, 46L);
    long passed = 0;
    for (int i = 0; i < refused; i++) {
      DEPLOYMENT.advance(Duration.ofSeconds(told.get(i) - passed));
      passed = told.get(i);
      client.send(frame("PooledSQS", errors.get(i).get("id").asText(), "1"));
      client.frames().await("reply", 31 + i);
    }

    DEPLOYMENT.cloud().settle();
    assertThat(client.frames().of("error")).hasSize(refused);
    DEPLOYMENT.close(client);
  }

  static Stream<Arguments> faultsOfOnePost() {
    return Stream.of(
        Arguments.of(new Fault.Refused(500, "InternalServerError", "out of order"), 3),
        Arguments.of(new Fault.Refused(429, "LimitExceededException", "Rate exceeded"), 4),
        Arguments.of(new Fault.Lost(), 3),
        Arguments.of(new Fault.Unanswered(), 4),
        // The socket does not get the rest of the batch either, because it is slow.
        Arguments.of(new Fault.Hung(), 2));
  }

  /** The clock does not move, so a repeated message would get no reply. */
  @ParameterizedTest
  @MethodSource("faultsOfOnePost")
  void an_undeliverable_frame_causes_no_repetition_and_no_delay(Fault fault, int framesOfTheOther)
      throws Exception {
    String tenant = "leaky-" + fault.getClass().getSimpleName().toLowerCase(Locale.ROOT);
    DEPLOYMENT.onboard(tenant, "silver", "{}");
    String session = DEPLOYMENT.open(tenant);
    Handshake one = connected(tenant, session);
    Handshake other = connected(tenant, session);
    long dead = deadLetters();
    try (Injection injected =
        DEPLOYMENT
            .cloud()
            .faults()
            .inject(
                call ->
                    call.operation().equals("PostToConnection")
                        && call.body().contains("\"id\":\"" + tenant),
                1,
                fault)) {
      one.send(frame("PooledSQS", tenant, "1"));
      one.frames().await("reply", 1);
      assertThat(injected.count()).isEqualTo(1);
    }
    one.send(frame("PooledSQS", "next", "2"));
    one.frames().await("reply", 2);
    DEPLOYMENT.cloud().settle();

    assertThat(ids(one.frames().of("reply"))).containsExactly(tenant, "next");
    assertThat(one.frames().texts()).hasSize(4);
    assertThat(other.frames().texts()).hasSize(framesOfTheOther).doesNotHaveDuplicates();
    assertThat(ids(other.frames().of("reply"))).endsWith("next");
    assertThat(deadLetters()).isEqualTo(dead);
    DEPLOYMENT.close(one);
    DEPLOYMENT.close(other);
  }

  private static long deadLetters() {
    try (SqsClient queues = DEPLOYMENT.inspect(SqsClient.builder())) {
      String url =
          queues.getQueueUrl(request -> request.queueName("tollgate_pool_dead.fifo")).queueUrl();
      return Long.parseLong(
          queues
              .getQueueAttributes(
                  request ->
                      request
                          .queueUrl(url)
                          .attributeNames(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES))
              .attributes()
              .get(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES));
    }
  }

  @Test
  void a_change_of_tier_applies_to_open_connections() throws Exception {
    DEPLOYMENT.onboard("shifter", "gold", "{}");
    Handshake client = connected("shifter", DEPLOYMENT.open("shifter"));
    sendAll(client, "SiloSQS", 100);
    client.frames().await("reply", 100);

    assertThat(
            DEPLOYMENT
                .control(
                    "PATCH",
                    "/tenants/shifter",
                    "{\"tier\":\"bronze\",\"overrides\":{\"messagesPerMinute\":3}}")
                .status())
        .isEqualTo(200);
    client.send(frame("SiloSQS", "late", "1"));
    assertThat(client.frames().await("error", 1).get(0).get("code").asText()).isEqualTo("NOT_SILO");
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    for (int i = 0; i < 4; i++) {
      client.send(frame("PooledSQS", "p-" + i, "1"));
    }
    JsonNode refused = client.frames().await("error", 2).get(1);
    assertThat(refused.get("code").asText()).isEqualTo("THROTTLED");
    assertThat(refused.get("id").asText()).isEqualTo("p-3");
    assertThat(client.frames().await("reply", 103)).hasSize(103);

    DEPLOYMENT.control("PATCH", "/tenants/shifter", "{\"tier\":\"gold\",\"overrides\":{}}");
    DEPLOYMENT.advance(Duration.ofMinutes(1));
    client.send(frame("SiloSQS", "back", "1"));
    List<JsonNode> replies = client.frames().await("reply", 104);
    assertThat(replies.get(103).get("id").asText()).isEqualTo("back");
    DEPLOYMENT.close(client);
  }
}
