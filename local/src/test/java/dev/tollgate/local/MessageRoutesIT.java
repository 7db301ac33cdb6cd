package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.engines.QueueEngine;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.RequestFaults;
import dev.tollgate.local.gateway.Client;
import dev.tollgate.local.gateway.Gateway;
import dev.tollgate.local.gateway.ScriptedFunctions;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.References;
import dev.tollgate.local.template.Template;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;

/**
 * From a client's socket into a queue and back: the routes, templates and queues of the synthesized
 * stack, with nothing behind the queues.
 */
@Timeout(60)
final class MessageRoutesIT {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String URL = "https://sqs.us-east-1.amazonaws.com/000000000000/";
  private static final String POOL = URL + "pool.fifo";

  private static final ManualClock CLOCK = new ManualClock(Instant.parse("2026-01-01T00:00:00Z"));
  private static final AccessKeys KEYS = new AccessKeys();
  private static final RecordedRequests REQUESTS = new RecordedRequests();
  private static final ScriptedFunctions FUNCTIONS = new ScriptedFunctions();
  private static final List<String> LOG = new CopyOnWriteArrayList<>();
  private static final Map<String, Brought> UP = new HashMap<>();

  private static QueueEngine queues;
  private static Endpoint frontDoor;
  private static Gateway gateway;
  private static SqsClient sqs;

  @BeforeAll
  static void start() throws Exception {
    queues = QueueEngine.start(Optional.empty(), CLOCK, "us-east-1", "000000000000");
    frontDoor =
        Endpoint.open(
            KEYS, Authorization.NONE, REQUESTS, new RequestFaults(Faults.none())::before, CLOCK);
    frontDoor.serve("sqs", queues.handler());
    gateway =
        new Gateway(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
            FUNCTIONS,
            new ServiceIntegrations(
                principal -> new ServiceClient(frontDoor.endpoint(), KEYS.issue(principal)),
                Optional.empty()),
            CLOCK,
            frontDoor::guard,
            LOG::add);
    bringUp();
    FUNCTIONS.define(
        "TollgateAuthorizerAlias",
        event ->
            ScriptedFunctions.success(
                """
                {"principalId":"p","context":{"tenantId":"%s","sessionId":"%s"},
                 "policyDocument":{"Version":"2012-10-17","Statement":[{"Effect":"Allow",
                 "Action":"execute-api:Invoke","Resource":"*"}]}}"""
                    .formatted(
                        event.at("/queryStringParameters/tenantId").asText(),
                        event.at("/queryStringParameters/sessionId").asText())));
    FUNCTIONS.define("TollgateConnectAlias", "{\"statusCode\":200}");
    FUNCTIONS.define("TollgateDisconnectAlias", "{\"statusCode\":200}");
    AccessKey key = KEYS.issue(Principal.of("inspector", "arn:aws:iam::000000000000:role/i"));
    sqs =
        SqsClient.builder()
            .endpointOverride(frontDoor.endpoint())
            .region(Region.US_EAST_1)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsSessionCredentials.create(
                        key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
            .build();
  }

  /** Brings up what the template has of APIs and queues; the rest is known by name only. */
  private static void bringUp() {
    Template template = Template.read(Path.of("../infra/target/cdk.out"));
    Environment environment = new Environment("000000000000", "us-east-1", template.stackName());
    ApiParts apis = new ApiParts(gateway.address(), Map.of(), issuer -> false, CLOCK);
    ServiceClient client =
        new ServiceClient(
            frontDoor.endpoint(), KEYS.issue(Principal.of("CloudFormation", "arn:role")));
    Map<String, Kind> kinds =
        Map.of(
            "AWS::ApiGatewayV2::Api", apis::api,
            "AWS::ApiGatewayV2::Authorizer", apis::authorizer,
            "AWS::ApiGatewayV2::Integration", apis::integration,
            "AWS::ApiGatewayV2::IntegrationResponse", apis::integrationResponse,
            "AWS::ApiGatewayV2::Route", apis::route,
            "AWS::ApiGatewayV2::RouteResponse", apis::routeResponse,
            "AWS::ApiGatewayV2::Stage", apis::stage,
            "AWS::SQS::Queue", new Queues(client, environment));
    var resolver =
        template.resolver(
            environment,
            new References() {
              @Override
              public String physicalId(String id) {
                Brought brought = UP.get(id);
                return brought == null ? id.replaceFirst("[0-9A-F]{8}$", "") : brought.physicalId();
              }

              @Override
              public String attribute(String id, String attribute) {
                return UP.getOrDefault(id, Brought.of(id))
                    .attributes()
                    .getOrDefault(attribute, "arn:aws:iam::000000000000:role/" + id);
              }
            });
    for (var resource : template.resources(resolver)) {
      Kind kind = kinds.get(resource.type());
      if (kind != null) {
        var properties = Template.properties(resource, resolver);
        UP.put(resource.logicalId(), kind.bring(resource.logicalId(), properties));
        properties.refuseUnread();
      }
    }
    apis.serve(gateway);
  }

  @AfterAll
  static void stop() {
    sqs.close();
    gateway.close();
    frontDoor.close();
    queues.close();
    FUNCTIONS.close();
  }

  @BeforeEach
  void forget() {
    REQUESTS.clear();
    LOG.clear();
  }

  @AfterEach
  void empty() {
    receive(POOL);
  }

  @Test
  void frame_arrives_with_its_group_and_its_connection_and_is_accepted() throws Exception {
    Client.Connected client = connect("acme", "s1");
    String frame = "{\"action\":\"PooledSQS\",\"id\":\"a-1\",\"message\":{\"n\":1}}";

    client.send(frame);

    assertThat(client.nextMessage())
        .isEqualToIgnoringNewLines("{\"type\":\"accepted\",\"id\":\"a-1\"}");
    Message message = only(receive(POOL));
    assertThat(message.body()).isEqualTo(frame);
    assertThat(message.attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "acme:s1")
        .containsKey(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID);
    assertThat(message.messageAttributes())
        .containsOnly(
            Map.entry(
                "connectionId",
                MessageAttributeValue.builder()
                    .dataType("String")
                    .stringValue(
                        last(FUNCTIONS.events("TollgateConnectAlias"))
                            .at("/requestContext/connectionId")
                            .asText())
                    .build()));
  }

  @Test
  void frame_without_an_id_is_accepted_under_that_of_its_message() throws Exception {
    Client.Connected client = connect("acme", "s1");

    client.send("{\"action\":\"PooledSQS\",\"message\":1}");

    assertThat(answer(client)).isEqualTo(accepted(only(receive(POOL)).messageId()));
  }

  @Test
  void frame_costs_one_request_with_the_rights_of_the_apis_role() throws Exception {
    Client.Connected client = connect("acme", "s1");
    REQUESTS.clear();

    client.send("{\"action\":\"PooledSQS\",\"message\":1}");
    client.nextMessage();

    assertThat(REQUESTS.list())
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.service()).isEqualTo("sqs");
              assertThat(request.operation()).isEqualTo("SendMessageBatch");
              assertThat(request.status()).isEqualTo(200);
              assertThat(request.principal().name()).isEqualTo("ApiGateway");
              assertThat(request.principal().roleArn())
                  .startsWith("arn:aws:iam::000000000000:role/TollgateWebSocketSender");
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
  void frame_arrives_byte_for_byte(String frame) throws Exception {
    Client.Connected client = connect("acme", "s2");

    client.send(frame);

    assertThat(answer(client).path("type").asText()).isEqualTo("accepted");
    Message message = only(receive(POOL));
    assertThat(message.body()).isEqualTo(frame);
    assertThat(message.attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "acme:s2");
  }

  @Test
  void largest_frame_arrives() throws Exception {
    Client.Connected client = connect("acme", "s1");
    String start = "{\"action\":\"PooledSQS\",\"message\":\"";
    String frame = start + "%".repeat(128 * 1024 - start.length() - 2) + "\"}";

    for (int i = 0; i < 4; i++) {
      client.socket().sendText(frame.substring(i * 32768, (i + 1) * 32768), i == 3).join();
    }

    assertThat(answer(client).path("type").asText()).isEqualTo("accepted");
    assertThat(only(receive(POOL)).body()).isEqualTo(frame);
  }

  @Test
  void frame_sent_again_with_its_id_is_accepted_again_and_queued_again() throws Exception {
    Client.Connected client = connect("acme", "s3");
    String frame = "{\"action\":\"PooledSQS\",\"id\":\"again\",\"message\":1}";

    client.send(frame);
    client.send(frame);
    connect("acme", "s4").send(frame);

    assertThat(answer(client)).isEqualTo(accepted("again"));
    assertThat(answer(client)).isEqualTo(accepted("again"));
    gateway.settle();
    assertThat(receive(POOL))
        .extracting(m -> m.attributes().get(MessageSystemAttributeName.MESSAGE_GROUP_ID))
        .containsExactlyInAnyOrder("acme:s3", "acme:s3", "acme:s4");
  }

  @Test
  void frames_of_a_connection_keep_their_order() throws Exception {
    Client.Connected client = connect("acme", "s5");
    List<String> frames = new ArrayList<>();
    for (int i = 0; i < 40; i++) {
      frames.add("{\"action\":\"PooledSQS\",\"id\":\"n" + i + "\",\"message\":" + i + "}");
    }

    frames.forEach(client::send);

    for (int i = 0; i < 40; i++) {
      assertThat(answer(client)).isEqualTo(accepted("n" + i));
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
  void frame_with_a_bad_id_is_refused(String id) throws Exception {
    Client.Connected client = connect("acme", "s1");

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
  void frame_that_is_no_message_is_answered(String frame) throws Exception {
    Client.Connected client = connect("acme", "s1");

    client.send(frame);

    JsonNode answer = answer(client);
    assertThat(answer.path("type").asText()).isEqualTo("error");
    assertThat(answer.path("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(answer.path("detail").asText()).isNotEmpty();
    assertThat(REQUESTS.list()).isEmpty();
  }

  @Test
  void text_that_sqs_does_not_take_is_refused() throws Exception {
    Client.Connected client = connect("acme", "s1");

    client.send("{\"action\":\"PooledSQS\",\"message\":\"\uFFFF\"}");

    assertThat(answer(client).path("code").asText()).isEqualTo("BAD_FRAME");
    assertThat(receive(POOL)).isEmpty();
  }

  @Test
  void silo_is_the_tenants_own_queue() throws Exception {
    String url = createSilo("owner");
    Client.Connected client = connect("owner", "s1");
    String frame = "{\"action\":\"SiloSQS\",\"id\":\"x\",\"message\":1,\"tenantId\":\"acme\"}";

    client.send(frame);

    assertThat(answer(client)).isEqualTo(accepted("x"));
    assertThat(only(receive(url)).body()).isEqualTo(frame);
    assertThat(receive(POOL)).isEmpty();
  }

  @Test
  void tenant_without_a_silo_is_told() throws Exception {
    Client.Connected client = connect("pooled", "s1");

    client.send("{\"action\":\"SiloSQS\",\"id\":\"x\",\"message\":1}");

    JsonNode answer = answer(client);
    assertThat(answer.path("code").asText()).isEqualTo("NOT_SILO");
    assertThat(answer.path("detail").asText()).contains("PooledSQS");
  }

  @Test
  void tenant_whose_silo_is_closing_is_told_the_same() throws Exception {
    String url = createSilo("closing");
    sqs.setQueueAttributes(
        r ->
            r.queueUrl(url)
                .attributes(
                    Map.of(
                        QueueAttributeName.POLICY,
                        "{\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":\"*\","
                            + "\"Action\":\"sqs:SendMessage\",\"Resource\":\"*\"}]}")));
    Client.Connected client = connect("closing", "s1");

    client.send("{\"action\":\"SiloSQS\",\"message\":1}");

    assertThat(answer(client).path("code").asText()).isEqualTo("NOT_SILO");
    assertThat(receive(url)).isEmpty();
  }

  private static Client.Connected connect(String tenant, String session) {
    return Client.connect(
        URI.create(
            gateway.endpoint("websocket")
                + "/production?tenantId="
                + tenant
                + "&sessionId="
                + session));
  }

  private static String createSilo(String tenant) {
    return sqs.createQueue(
            r ->
                r.queueName("silo_" + tenant + ".fifo")
                    .attributes(Map.of(QueueAttributeName.FIFO_QUEUE, "true")))
        .queueUrl();
  }

  /** All messages that can be had, which are gone then. */
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

  private static <T> T last(List<T> list) {
    return list.get(list.size() - 1);
  }

  private static ObjectNode accepted(String id) {
    return JSON.createObjectNode().put("type", "accepted").put("id", id);
  }

  private static JsonNode answer(Client.Connected client) throws InterruptedException {
    try {
      return JSON.readTree(client.nextMessage());
    } catch (IOException e) {
      throw new UncheckedIOException(LOG.toString(), e);
    }
  }
}
