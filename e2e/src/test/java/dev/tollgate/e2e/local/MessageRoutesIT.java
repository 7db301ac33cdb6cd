package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.acceptance.Deployment.Answer;
import dev.tollgate.e2e.acceptance.Deployment.Handshake;
import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * The routes of the WebSocket API, from a client's frame to the queue and back to the client. No
 * function receives from the queues, so the tests see each message as the route sent it.
 */
final class MessageRoutesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String URL = "https://sqs.us-east-1.amazonaws.com/000000000000/";
  private static final String POOL = URL + "tollgate_pool.fifo";
  private static final String OFTEN = "{\"tenantPerMinute\":6000,\"tenantConnections\":200}";

  private static LocalDeployment deployment;
  private static SqsClient sqs;

  @BeforeAll
  static void start(@TempDir Path directory) throws Exception {
    deployment = LocalDeployment.of(Assembly.withoutEventSources(directory));
    sqs = deployment.inspect(SqsClient.builder());
    onboard("acme");
  }

  @AfterAll
  static void stop() {
    sqs.close();
    deployment.close();
  }

  @AfterEach
  void empty() {
    receive(POOL);
  }

  private static void onboard(String tenant) {
    assertThat(deployment.onboard(tenant, "silver", OFTEN).status()).isEqualTo(201);
  }

  @Test
  void a_frame_is_queued_with_its_group_and_connection_and_accepted() throws Exception {
    String session = deployment.open("acme");
    Handshake client = connect("acme", session);
    String frame = "{\"action\":\"PooledSQS\",\"id\":\"a-1\",\"message\":{\"n\":1}}";

    client.send(frame);

    client.frames().await("accepted", 1);
    assertThat(client.frames().texts())
        .singleElement()
        .asString()
        .isEqualToIgnoringNewLines("{\"type\":\"accepted\",\"id\":\"a-1\"}");
    Message message = only(receive(POOL));
    assertThat(message.body()).isEqualTo(frame);
    assertThat(message.attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "acme:" + session)
        .containsKey(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    assertThat(message.messageAttributes())
        .containsOnly(
            Map.entry(
                "connectionId",
                MessageAttributeValue.builder()
                    .dataType("String")
                    .stringValue(connectionOf("acme", session))
                    .build()));
  }

  @Test
  void a_frame_without_id_is_accepted_with_the_id_of_its_message() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    client.send("{\"action\":\"PooledSQS\",\"message\":1}");

    assertThat(answer(client)).isEqualTo(accepted(only(receive(POOL)).messageId()));
  }

  @Test
  void a_frame_costs_one_request_by_the_role_of_the_api() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    List<Request> requests =
        deployment.requestsOf(
            () -> {
              client.send("{\"action\":\"PooledSQS\",\"message\":1}");
              client.frames().await("accepted", 1);
            });

    assertThat(requests)
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.service()).isEqualTo("sqs");
              assertThat(request.operation()).isEqualTo("SendMessageBatch");
              assertThat(request.status()).isEqualTo(200);
              assertThat(request.principal().name()).isEqualTo("ApiGateway");
              assertThat(request.principal().roleArn())
                  .startsWith("arn:aws:iam::000000000000:role/WebSocketSender");
            });
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"action\":\"PooledSQS\",\"message\":\"&SendMessageBatchRequestEntry.1.MessageGroupId=x&QueueUrl=y\"}",
        "{\"action\":\"PooledSQS\",\"message\":\"%26 % %% + ++ # ## = ?\"}",
        "{\"action\":\"PooledSQS\",\"message\":\"\\\"quoted\\\" 'single' \\\\ \\n \\u00e9\"}",
        " {\r\n\t\"message\" : \"\uD83D\uDE00 \u00e9 \u4e2d\uFFFD\" ,\n \"action\" : \"PooledSQS\" }\n ",
        "{\"action\":\"PooledSQS\",\"message\":\"$input $input.body $context.connectionId $util.urlEncode(\\\"x\\\") ${x}\"}",
        "{\"action\":\"PooledSQS\",\"message\":\"#set($x = 1) #if(true) #end #* comment *# #[[raw]]#\"}",
        "{\"action\":\"PooledSQS\",\"message\":[1.0,1e400,12345678901234567890,null,{}]}",
        "{\"action\":\"PooledSQS\",\"action\":\"PooledSQS\",\"message\":1,\"message\":2}",
        "{\"action\":\"PooledSQS\",\"id\":null,\"message\":1}",
        "{\"action\":\"PooledSQS\",\"id\":\"\",\"message\":1}",
        "{\"action\":\"PooledSQS\"}"
      })
  void a_frame_is_queued_byte_for_byte(String frame) throws Exception {
    String session = deployment.open("acme");
    Handshake client = connect("acme", session);

    client.send(frame);

    assertThat(answer(client).path("type").asText()).isEqualTo("accepted");
    Message message = only(receive(POOL));
    assertThat(message.body()).isEqualTo(frame);
    assertThat(message.attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "acme:" + session);
  }

  @Test
  void the_largest_frame_is_queued() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));
    String start = "{\"action\":\"PooledSQS\",\"message\":\"";
    String frame = start + "%".repeat(128 * 1024 - start.length() - 2) + "\"}";

    for (int i = 0; i < 4; i++) {
      client.socket().sendText(frame.substring(i * 32768, (i + 1) * 32768), i == 3).join();
    }

    assertThat(answer(client).path("type").asText()).isEqualTo("accepted");
    assertThat(only(receive(POOL)).body()).isEqualTo(frame);
  }

  @Test
  void a_repeated_frame_with_the_same_id_is_accepted_and_queued_again() throws Exception {
    String one = deployment.open("acme");
    String two = deployment.open("acme");
    Handshake client = connect("acme", one);
    String frame = "{\"action\":\"PooledSQS\",\"id\":\"again\",\"message\":1}";

    client.send(frame);
    client.send(frame);
    connect("acme", two).send(frame);

    assertThat(client.frames().await("accepted", 2)).containsOnly(accepted("again"));
    deployment.cloud().settle();
    assertThat(receive(POOL))
        .extracting(m -> m.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID))
        .containsExactlyInAnyOrder("acme:" + one, "acme:" + one, "acme:" + two);
  }

  @Test
  void frames_of_a_connection_keep_their_order() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));
    List<String> frames = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      frames.add("{\"action\":\"PooledSQS\",\"id\":\"n" + i + "\",\"message\":" + i + "}");
    }

    frames.forEach(client::send);

    List<JsonNode> answers = client.frames().await("accepted", 40);
    for (int i = 0; i < 40; i++) {
      assertThat(answers.get(i)).isEqualTo(accepted("n" + i));
    }
    assertThat(receive(POOL)).extracting(Message::body).containsExactlyElementsOf(frames);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1.5",
        "{\"a\":1}",
        "[\"a\"]",
        "[]",
        "{}",
        "\"a b\"",
        "\"a&b\"",
        "\"a\\n\"",
        "\"\u00e9\"",
        "\"a:b\"",
        "\"12345678901234567890123456789012345678901234567890123456789012345\""
      })
  void a_frame_with_an_invalid_id_is_refused(String id) throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    client.send("{\"action\":\"PooledSQS\",\"id\":" + id + ",\"message\":1}");

    assertThat(answer(client).path("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(receive(POOL)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"action\":\"Other\",\"message\":1}",
        "{\"message\":1}",
        "not JSON",
        "",
        "[1]",
        "{\"action\":\"$default\"}",
        "{\"action\":{\"a\":1}}"
      })
  void a_frame_that_is_not_a_message_gets_an_error(String frame) throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    List<Request> requests =
        deployment.requestsOf(
            () -> {
              client.send(frame);
              client.frames().await("error", 1);
            });

    JsonNode answer = answer(client);
    assertThat(answer.path("type").asText()).isEqualTo("error");
    assertThat(answer.path("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(answer.path("detail").asText()).isNotEmpty();
    assertThat(requests).isEmpty();
  }

  @Test
  void a_text_that_sqs_rejects_is_refused() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    client.send("{\"action\":\"PooledSQS\",\"message\":\"\uFFFF\"}");

    assertThat(answer(client).path("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(receive(POOL)).isEmpty();
  }

  @Test
  void a_frame_to_the_silo_reaches_the_tenants_own_queue() throws Exception {
    onboard("owner");
    String url = createSilo("owner");
    Handshake client = connect("owner", deployment.open("owner"));
    String frame = "{\"action\":\"SiloSQS\",\"id\":\"x\",\"message\":1,\"tenantId\":\"acme\"}";

    client.send(frame);

    assertThat(answer(client)).isEqualTo(accepted("x"));
    assertThat(only(receive(url)).body()).isEqualTo(frame);
    assertThat(receive(POOL)).isEmpty();
  }

  @Test
  void a_frame_over_the_throttle_of_its_route_is_answered_by_api_gateway() throws Exception {
    Handshake client = connect("acme", deployment.open("acme"));

    for (int i = 0; i < 2 * Assembly.LOW_BURST; i++) {
      client.send("{\"action\":\"SiloSQS\",\"message\":1}");
    }
    client.frames().await("", 1);
    client.send("{\"action\":\"PooledSQS\",\"message\":1}");
    client.frames().await("accepted", 1);

    assertThat(client.frames().texts()).anyMatch(frame -> frame.contains("Too Many Requests"));
    assertThat(client.frames().texts()).anyMatch(frame -> frame.contains("NOT_SILO"));
    deployment.clock().advance(Duration.ofSeconds(Assembly.LOW_BURST));
  }

  @Test
  void a_page_over_the_throttle_of_its_route_is_refused_by_api_gateway() {
    String page = deployment.outputs().get("SampleClient") + "config.json";
    List<Answer> answers = new ArrayList<>();
    for (int i = 0; i < 2 * Assembly.LOW_BURST; i++) {
      answers.add(deployment.send(page, "GET", "", Map.of()));
    }

    assertThat(answers.get(0).status()).isEqualTo(200);
    assertThat(answers)
        .filteredOn(answer -> answer.status() == 429)
        .isNotEmpty()
        .allMatch(answer -> answer.body().path("message").asText().equals("Too Many Requests"));
    deployment.clock().advance(Duration.ofSeconds(Assembly.LOW_BURST));
    assertThat(deployment.send(page, "GET", "", Map.of()).status()).isEqualTo(200);
  }

  @Test
  void a_frame_to_a_missing_silo_gets_an_error() throws Exception {
    onboard("pooled");
    Handshake client = connect("pooled", deployment.open("pooled"));

    client.send("{\"action\":\"SiloSQS\",\"id\":\"x\",\"message\":1}");

    JsonNode answer = answer(client);
    assertThat(answer.path("code").asText()).isEqualTo("NOT_SILO");
    assertThat(answer.path("detail").asText()).contains("PooledSQS");
  }

  @Test
  void a_frame_to_a_closing_silo_gets_the_same_error() throws Exception {
    onboard("closing");
    String url = createSilo("closing");
    sqs.setQueueAttributes(
        r ->
            r.queueUrl(url)
                .attributes(
                    Map.of(
                        QueueAttributeName.POLICY,
                        "{\"Version\":\"2012-10-17\",\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":\"*\","
                            + "\"Action\":\"sqs:SendMessage\",\"Resource\":\"*\"}]}")));
    Handshake client = connect("closing", deployment.open("closing"));

    client.send("{\"action\":\"SiloSQS\",\"message\":1}");

    assertThat(answer(client).path("code").asText()).isEqualTo("NOT_SILO");
    assertThat(receive(url)).isEmpty();
  }

  private static Handshake connect(String tenant, String session) {
    Handshake handshake = deployment.connect(tenant, session);
    assertThat(handshake.status()).isEqualTo(101);
    return handshake;
  }

  private static String connectionOf(String tenant, String session) {
    try (DynamoDbClient tables = deployment.inspect(DynamoDbClient.builder())) {
      String table =
          LocalDeployment.readableTables(tables).stream()
              .filter(name -> name.contains("Session"))
              .findFirst()
              .orElseThrow();
      return only(
          tables
              .getItem(
                  r ->
                      r.tableName(table)
                          .key(
                              Map.of(
                                  "tenantId", AttributeValue.fromS(tenant),
                                  "sessionId", AttributeValue.fromS(session))))
              .item()
              .getOrDefault("connectionIds", AttributeValue.fromSs(List.of()))
              .ss());
    }
  }

  private static String createSilo(String tenant) {
    return sqs.createQueue(
            r ->
                r.queueName("silo_" + tenant + ".fifo")
                    .attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")))
        .queueUrl();
  }

  /** Receives and deletes all messages. */
  private static List<Message> receive(String url) {
    List<Message> all = new ArrayList<>();
    while (true) {
      List<Message> messages =
          sqs.receiveMessage(
                  r ->
                      r.queueUrl(url)
                          .maxNumberOfMessages(10)
                          .messageSystemAttributeNames(MessageSystemAttributeName.ALL)
                          .messageAttributeNames("All"))
              .messages();
      if (messages.isEmpty()) {
        return all;
      }
      all.addAll(messages);
      messages.forEach(
          m -> sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(m.receiptHandle())));
    }
  }

  private static <T> T only(List<T> list) {
    assertThat(list).hasSize(1);
    return list.get(0);
  }

  private static ObjectNode accepted(String id) {
    return JSON.createObjectNode().put("type", "accepted").put("id", id);
  }

  /** The single frame that a socket receives. */
  private static JsonNode answer(Handshake client) throws Exception {
    return JSON.readTree(only(client.frames().awaitTexts(1)));
  }
}
