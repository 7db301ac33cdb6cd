package dev.tollgate.local.engines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Exchange;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.faults.Fault;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.RequestFaults;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.testing.ManualClock;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpResponse;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.InvalidBatchEntryIdException;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.QueueDeletedRecentlyException;
import software.amazon.awssdk.services.sqs.model.QueueDoesNotExistException;
import software.amazon.awssdk.services.sqs.model.QueueNameExistsException;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.SqsException;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.services.sts.model.Credentials;
import software.amazon.awssdk.services.sts.model.GetCallerIdentityResponse;
import software.amazon.awssdk.services.sts.model.Tag;

final class EnginesTest {
  private static final String URL_PREFIX = "https://sqs.us-east-1.amazonaws.com/000000000000/";
  private static final String JSON = "application/json";
  private static final String TENANT_ROLE = "arn:aws:iam::000000000000:role/Tenant";

  private static final ManualClock CLOCK = new ManualClock(Instant.parse("2026-01-01T00:00:00Z"));
  private static final AccessKeys KEYS = new AccessKeys();
  private static final RecordedRequests REQUESTS = new RecordedRequests();
  private static final Faults FAULTS = new Faults(FaultPlan.none());
  private static final AccessKey KEY =
      KEYS.issue(Principal.of("Authorizer", "arn:aws:iam::000000000000:role/Authorizer"));

  private static TableEngine tables;
  private static QueueEngine queues;
  private static Endpoint endpoint;
  private static SqsClient sqs;
  private static DynamoDbClient dynamoDb;
  private static StsClient sts;

  @BeforeAll
  static void start() throws Exception {
    tables = new TableEngine(Optional.empty(), "us-east-1");
    queues = new QueueEngine(Optional.empty(), Environment.of("Test", CLOCK), queue -> false);
    endpoint =
        new Endpoint(
            KEYS,
            Authorization.NONE,
            REQUESTS,
            new RequestFaults(FAULTS, caller -> false, function -> false, function -> {})::before,
            CLOCK);
    endpoint.serve("dynamodb", tables.handler());
    endpoint.serve("sqs", queues.handler());
    SecurityTokens securityTokens = new SecurityTokens(KEYS, CLOCK);
    securityTokens.addRole(TENANT_ROLE);
    endpoint.serve("sts", securityTokens);
    sqs = client(SqsClient.builder(), KEY);
    dynamoDb = client(DynamoDbClient.builder(), KEY);
    sts = client(StsClient.builder(), KEY);
  }

  @AfterAll
  static void stop() {
    sqs.close();
    dynamoDb.close();
    sts.close();
    endpoint.close();
    queues.close();
    tables.close();
  }

  @BeforeEach
  void forget_requests() {
    REQUESTS.clear();
  }

  @Test
  void endpoint_refuses_other_hosts_and_pages_of_other_sites() throws Exception {
    String host = "Host: " + endpoint.endpoint().getAuthority();

    assertThat(statusOf(endpoint.endpoint(), host, "{}")).isEqualTo(403);
    assertThat(statusOf(endpoint.endpoint(), "Host: evil.example", "{}")).isEqualTo(421);
    assertThat(statusOf(endpoint.endpoint(), host + "\r\nOrigin: https://evil.example", "{}"))
        .isEqualTo(403);
    assertThat(
            answerOf(
                endpoint.endpoint(),
                "OPTIONS",
                host
                    + "\r\nOrigin: https://evil.example"
                    + "\r\nAccess-Control-Request-Method: POST"
                    + "\r\nAccess-Control-Request-Headers: authorization",
                ""))
        .startsWith("HTTP/1.1 403")
        .containsIgnoringCase("x-content-type-options: nosniff")
        .doesNotContainIgnoringCase("access-control-allow");
    assertThat(answerOf(endpoint.endpoint(), "POST", host, "{}"))
        .startsWith("HTTP/1.1 403")
        .containsIgnoringCase("x-content-type-options: nosniff");
  }

  @Test
  void table_engine_loads_its_library_from_a_directory_that_is_its_owners() throws Exception {
    Path directory = Path.of(System.getProperty("org.sqlite.tmpdir"));
    dynamoDb.listTables();

    assertThat(Files.getPosixFilePermissions(directory))
        .isEqualTo(PosixFilePermissions.fromString("rwx------"));
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).singleElement().asString().contains("sqlite4java");
    }
  }

  private static int statusOf(URI uri, String header, String body) throws IOException {
    String answer = answerOf(uri, "POST", header, body);
    return Integer.parseInt(answer.split(" ", 3)[1]);
  }

  private static String answerOf(URI uri, String method, String header, String body)
      throws IOException {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), uri.getPort())) {
      String path = uri.getPath().isEmpty() ? "/" : uri.getPath();
      socket
          .getOutputStream()
          .write(
              (method
                      + " "
                      + path
                      + " HTTP/1.1\r\n"
                      + header
                      + "\r\nConnection: close\r\n"
                      + "Content-Length: "
                      + body.length()
                      + "\r\n\r\n"
                      + body)
                  .getBytes(StandardCharsets.UTF_8));
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  @Test
  void queue_urls_have_the_form_of_aws() {
    String url = createQueue("urls", Map.of());

    assertThat(url).isEqualTo(URL_PREFIX + "urls");
    assertThat(sqs.getQueueUrl(r -> r.queueName("urls")).queueUrl()).isEqualTo(url);
    assertThat(sqs.listQueues(r -> r.queueNamePrefix("urls")).queueUrls()).containsExactly(url);
    sqs.createQueue(r -> r.queueName("urls-more"));
    assertThat(sqs.listQueues(r -> r.queueNamePrefix("urls").maxResults(1)).queueUrls())
        .containsExactly(url);
    assertThat(sqs.listQueuesPaginator(r -> r.queueNamePrefix("urls").maxResults(1)).queueUrls())
        .containsExactly(url, url + "-more");
  }

  /** As the callers of a test, or the functions of an application, may block it. */
  @Test
  void engines_answer_while_all_threads_of_the_common_pool_wait_for_them() {
    String url = createQueue("pool", Map.of());
    CountDownLatch answered = new CountDownLatch(1);
    List<CompletableFuture<Void>> blocked =
        Stream.generate(
                () ->
                    CompletableFuture.runAsync(
                        () -> {
                          try {
                            answered.await();
                          } catch (InterruptedException e) {
                            throw new IllegalStateException(e);
                          }
                        }))
            .limit(2L * ForkJoinPool.getCommonPoolParallelism())
            .toList();

    try {
      sqs.sendMessage(r -> r.queueUrl(url).messageBody("a token"));
      assertThat(sqs.receiveMessage(r -> r.queueUrl(url)).messages()).hasSize(1);
      assertThat(dynamoDb.listTables().hasTableNames()).isTrue();
    } finally {
      answered.countDown();
      blocked.forEach(CompletableFuture::join);
    }
  }

  @Test
  void message_sent_isReceived_and_deleted() {
    String url = createQueue("messages", Map.of());
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("é & <token>"));
    assertThat(level(url)).isEqualTo("1");

    var messages = sqs.receiveMessage(r -> r.queueUrl(url).waitTimeSeconds(1)).messages();

    assertThat(messages).singleElement().extracting(m -> m.body()).isEqualTo("é & <token>");
    sqs.deleteMessage(r -> r.queueUrl(url).receiptHandle(messages.get(0).receiptHandle()));
    assertThat(level(url)).isEqualTo("0");
  }

  @Test
  void delayed_message_becomes_visible_when_the_clock_moves() {
    String url = createQueue("delayed", Map.of());
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("later").delaySeconds(900));
    assertThat(sqs.receiveMessage(r -> r.queueUrl(url)).messages()).isEmpty();

    CLOCK.advance(Duration.ofSeconds(901));

    assertThat(sqs.receiveMessage(r -> r.queueUrl(url)).messages()).hasSize(1);
  }

  @Test
  void injected_fault_strikes_as_often_as_it_should_and_where_it_should() {
    String url = createQueue("faulty", Map.of());
    String other = createQueue("sound", Map.of());
    Predicate<Call> sends =
        call ->
            call.operation().equals("SendMessage") && call.resource().equals(Optional.of("faulty"));

    try (var injection = FAULTS.inject(sends, 1, new Fault.Refused(400, "Slow", "down"))) {
      sqs.sendMessage(r -> r.queueUrl(other).messageBody("x"));
      assertThatThrownBy(() -> unretried().sendMessage(r -> r.queueUrl(url).messageBody("x")))
          .isInstanceOf(SqsException.class)
          .hasMessageContaining("down");
      sqs.sendMessage(r -> r.queueUrl(url).messageBody("x"));
      assertThat(injection.count()).isEqualTo(1);
    }
    assertThat(level(url)).isEqualTo("1");

    try (var injection = FAULTS.inject(sends, 100, new Fault.Lost())) {
      assertThatThrownBy(() -> unretried().sendMessage(r -> r.queueUrl(url).messageBody("x")))
          .isInstanceOf(SdkClientException.class);
      assertThat(injection.count()).isEqualTo(1);
    }
    assertThat(level(url)).isEqualTo("1");

    try (var injection = FAULTS.inject(sends, 100, new Fault.Unanswered())) {
      assertThatThrownBy(() -> unretried().sendMessage(r -> r.queueUrl(url).messageBody("x")))
          .isInstanceOf(SdkClientException.class);
      assertThat(injection.count()).isEqualTo(1);
    }
    assertThat(level(url)).isEqualTo("2");
  }

  private static SqsClient unretried() {
    return client(
        SqsClient.builder()
            .overrideConfiguration(c -> c.retryStrategy(retry -> retry.maxAttempts(1))),
        KEY);
  }

  @Test
  void callers_that_never_send_their_bodies_hold_nobody_up() throws Exception {
    URI door = endpoint.endpoint();
    List<Socket> silent = new ArrayList<>();
    try {
      for (int i = 0; i < 100; i++) {
        Socket socket = new Socket(door.getHost(), door.getPort());
        silent.add(socket);
        socket
            .getOutputStream()
            .write(
                "POST / HTTP/1.1\r\nHost: aws\r\nContent-Length: 10\r\n\r\n{"
                    .getBytes(StandardCharsets.US_ASCII));
      }
      createQueue("served-all-the-same", Map.of());
    } finally {
      for (Socket socket : silent) {
        socket.close();
      }
    }
  }

  @Test
  void missing_queue_is_the_services_own_error() {
    assertThatThrownBy(() -> sqs.sendMessage(r -> r.queueUrl(URL_PREFIX + "none").messageBody("x")))
        .isInstanceOf(QueueDoesNotExistException.class);
  }

  @Test
  void attributes_that_the_engine_lacks_are_kept() {
    String url =
        createQueue(
            "attributes",
            Map.of(
                QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "false",
                QueueAttributeName.MESSAGE_RETENTION_PERIOD, "60",
                QueueAttributeName.VISIBILITY_TIMEOUT, "7"));
    sqs.setQueueAttributes(
        r ->
            r.queueUrl(url).attributes(Map.of(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "120")));

    Map<QueueAttributeName, String> attributes =
        sqs.getQueueAttributes(r -> r.queueUrl(url).attributeNames(QueueAttributeName.ALL))
            .attributes();

    assertThat(attributes)
        .containsEntry(QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "false")
        .containsEntry(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "120")
        .containsEntry(QueueAttributeName.VISIBILITY_TIMEOUT, "7")
        .containsEntry(
            QueueAttributeName.QUEUE_ARN, "arn:aws:sqs:us-east-1:000000000000:attributes");
    assertThat(
            sqs.getQueueAttributes(
                    r -> r.queueUrl(url).attributeNames(QueueAttributeName.SQS_MANAGED_SSE_ENABLED))
                .attributes())
        .containsExactly(Map.entry(QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "false"));
  }

  @Test
  void attribute_values_and_names_are_checked() {
    assertThatThrownBy(
            () -> createQueue("bad", Map.of(QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "perhaps")))
        .asInstanceOf(type(AwsServiceException.class))
        .extracting(e -> e.awsErrorDetails().errorCode())
        .isEqualTo("InvalidAttributeValue");
  }

  static Stream<String> requests_with_a_wrong_queue_name() {
    return Stream.concat(
        Stream.of("{}"),
        Stream.of("a".repeat(81), "a".repeat(76) + ".fifo", "a.b", ".fifo", "", "é")
            .map("{\"QueueName\":\"%s\"}"::formatted));
  }

  @ParameterizedTest
  @MethodSource("requests_with_a_wrong_queue_name")
  void queue_with_a_wrong_name_is_not_created(String request) throws Exception {
    HttpResponse<String> answer = sqsCall("CreateQueue", request);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(answer.headers().firstValue("x-amzn-query-error"))
        .contains("InvalidParameterValue;Sender");
    assertThat(json(answer).path("__type").asText())
        .isEqualTo("com.amazon.coral.service#InvalidParameterValueException");
  }

  @Test
  void values_that_the_engine_refuses_have_the_error_of_the_service() throws Exception {
    String url = createQueue("groups.fifo", Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
    for (HttpResponse<String> answer :
        List.of(
            sqsCall(
                "SendMessage",
                """
                {"QueueUrl":"%s","MessageBody":"b","MessageGroupId":"a b","MessageDeduplicationId":"d"}
                """
                    .formatted(url)),
            sqsCall(
                "SendMessage",
                """
                {"QueueUrl":"%s","MessageBody":"b","MessageGroupId":"a","MessageDeduplicationId":"d",
                 "MessageAttributes":{"n":{"DataType":"Number","StringValue":"%%zz"}}}
                """
                    .formatted(url)),
            sqsCall("ListQueues", "{\"MaxResults\":0}"))) {
      assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
      assertThat(answer.headers().firstValue("x-amzn-query-error"))
          .contains("InvalidParameterValue;Sender");
      assertThat(json(answer).path("__type").asText())
          .isEqualTo("com.amazon.coral.service#InvalidParameterValueException");
    }
  }

  @Test
  void queue_name_has_up_to_80_characters() {
    createQueue("a".repeat(80), Map.of());
    createQueue("a".repeat(75) + ".fifo", Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"CreateQueue", "SetQueueAttributes"})
  void attributes_must_be_an_object(String operation) throws Exception {
    String url = createQueue("object", Map.of());

    HttpResponse<String> answer =
        sqsCall(
            operation,
            "{\"QueueName\":\"object\",\"QueueUrl\":\"%s\",\"Attributes\":7}".formatted(url));

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(json(answer).path("__type").asText()).isEqualTo("SerializationException");
  }

  @Test
  void empty_answer_has_no_content_type() throws Exception {
    String url = createQueue("purged", Map.of());

    HttpResponse<String> answer = sqsCall("PurgeQueue", "{\"QueueUrl\":\"%s\"}".formatted(url));

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
    assertThat(answer.body()).isEmpty();
    assertThat(answer.headers().firstValue("Content-Type")).isEmpty();
  }

  @Test
  void queue_created_again_isTheSame_unless_an_attribute_differs() {
    Map<QueueAttributeName, String> attributes =
        Map.of(
            QueueAttributeName.MESSAGE_RETENTION_PERIOD, "600",
            QueueAttributeName.SQS_MANAGED_SSE_ENABLED, "true");
    String url = createQueue("again", attributes);

    assertThat(createQueue("again", attributes)).isEqualTo(url);
    assertThat(createQueue("again", Map.of())).isEqualTo(url);
    assertThatThrownBy(
            () -> createQueue("again", Map.of(QueueAttributeName.MESSAGE_RETENTION_PERIOD, "601")))
        .isInstanceOf(QueueNameExistsException.class);
  }

  @Test
  void redrive_policy_is_compared_by_meaning() {
    createQueue("dead", Map.of());
    String policy =
        "{\"deadLetterTargetArn\":\"arn:aws:sqs:us-east-1:000000000000:dead\",\"maxReceiveCount\":3}";
    createQueue("redriven", Map.of(QueueAttributeName.REDRIVE_POLICY, policy));

    assertThat(
            createQueue(
                "redriven",
                Map.of(QueueAttributeName.REDRIVE_POLICY, policy.replace(":3", ": \"3\""))))
        .isEqualTo(URL_PREFIX + "redriven");
    assertThatThrownBy(
            () ->
                createQueue(
                    "redriven",
                    Map.of(QueueAttributeName.REDRIVE_POLICY, policy.replace(":3", ":4"))))
        .isInstanceOf(QueueNameExistsException.class);
  }

  @Test
  void attributes_of_fifo_queues_are_kept_and_refused_for_others() {
    Map<QueueAttributeName, String> attributes =
        Map.of(
            QueueAttributeName.FIFO_QUEUE, "true",
            QueueAttributeName.DEDUPLICATION_SCOPE, "messageGroup",
            QueueAttributeName.FIFO_THROUGHPUT_LIMIT, "perMessageGroupId");
    String url = createQueue("kept.fifo", attributes);

    assertThat(attributes(url)).containsAllEntriesOf(attributes);
    assertThat(createQueue("kept.fifo", attributes)).isEqualTo(url);
    assertThatThrownBy(
            () -> createQueue("kept.fifo", Map.of(QueueAttributeName.DEDUPLICATION_SCOPE, "queue")))
        .isInstanceOf(QueueNameExistsException.class);
    String other = createQueue("unordered", Map.of());
    assertThat(attributes(other)).doesNotContainKey(QueueAttributeName.DEDUPLICATION_SCOPE);
    assertThatThrownBy(
            () ->
                sqs.setQueueAttributes(
                    r ->
                        r.queueUrl(other)
                            .attributes(
                                Map.of(QueueAttributeName.DEDUPLICATION_SCOPE, "messageGroup"))))
        .asInstanceOf(type(AwsServiceException.class))
        .extracting(e -> e.awsErrorDetails().errorCode())
        .isEqualTo("InvalidAttributeName");
  }

  @Test
  void policy_that_denies_everybody_to_send_is_obeyed_until_it_is_gone() throws Exception {
    String url = createQueue("policy", Map.of());
    String policy =
        "{\"Statement\":[{\"Effect\":\"Deny\",\"Principal\":{\"AWS\":\"*\"},"
            + "\"Action\":[\"sqs:SendMessage\"],\"Resource\":\"*\"}]}";
    setPolicy(url, policy);
    assertThat(attributes(url)).containsEntry(QueueAttributeName.POLICY, policy);

    assertThatThrownBy(() -> sqs.sendMessage(r -> r.queueUrl(url).messageBody("x")))
        .asInstanceOf(type(AwsServiceException.class))
        .returns(403, e -> e.statusCode());
    HttpResponse<String> answer = query("policy", "Action=SendMessage&MessageBody=x");
    assertThat(answer.statusCode()).isEqualTo(403);
    assertThat(json(answer).at("/Error/Code").asText()).isEqualTo("AccessDenied");
    assertThat(level(url)).isEqualTo("0");

    setPolicy(url, "");
    assertThat(attributes(url)).doesNotContainKey(QueueAttributeName.POLICY);
    sqs.sendMessage(r -> r.queueUrl(url).messageBody("x"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'Effect':'Allow','Principal':'*','Action':'sqs:SendMessage'}",
        "{'Effect':'Deny','Principal':'*','Action':'sqs:ReceiveMessage'}",
        "{'Effect':'Deny','Principal':{'AWS':'000000000000'},'Action':'sqs:*'}",
        "{'Effect':'Deny','Principal':'*','Action':'sqs:*','Condition':{'Bool':{'aws:SecureTransport':'false'}}}"
      })
  void policy_that_denies_less_is_not(String statement) {
    String url = createQueue("lesser", Map.of());
    setPolicy(url, "{\"Statement\":" + statement.replace('\'', '"') + "}");

    sqs.sendMessage(r -> r.queueUrl(url).messageBody("x"));
  }

  @Test
  void query_protocol_sends_and_is_answered_in_json() throws Exception {
    String url = createQueue("query.fifo", Map.of(QueueAttributeName.FIFO_QUEUE, "true"));
    String entry = "&SendMessageBatchRequestEntry.1.";

    HttpResponse<String> answer =
        query(
            "query.fifo",
            "Action=SendMessageBatch"
                + (entry + "Id=a")
                + (entry + "MessageBody=%C3%A9+%26+%22")
                + (entry + "MessageGroupId=g")
                + (entry + "MessageDeduplicationId=d")
                + (entry + "MessageAttribute.1.Name=n")
                + (entry + "MessageAttribute.1.Value.DataType=String")
                + (entry + "MessageAttribute.1.Value.StringValue=v"));

    assertThat(answer.statusCode()).isEqualTo(200);
    JsonNode response = json(answer).path("SendMessageBatchResponse");
    assertThat(response.at("/ResponseMetadata/RequestId").asText()).isNotEmpty();
    JsonNode sent = response.at("/SendMessageBatchResult/Successful/0");
    assertThat(sent.path("Id").asText()).isEqualTo("a");
    var message =
        sqs.receiveMessage(
                r ->
                    r.queueUrl(url)
                        .messageAttributeNames("All")
                        .messageSystemAttributeNames(MessageSystemAttributeName.ALL))
            .messages()
            .get(0);
    assertThat(message.messageId()).isEqualTo(sent.path("MessageId").asText());
    assertThat(message.body()).isEqualTo("é & \"");
    assertThat(message.attributes())
        .containsEntry(MessageSystemAttributeName.MESSAGE_GROUP_ID, "g")
        .containsEntry(MessageSystemAttributeName.MESSAGE_DEDUPLICATION_ID, "d");
    assertThat(message.messageAttributes()).hasSize(1).containsKey("n");
    assertThat(REQUESTS.list()).extracting(r -> r.operation()).contains("SendMessageBatch");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "none | Action=SendMessage&MessageBody=x | AWS.SimpleQueueService.NonExistentQueue",
        "errors | Action=SendMessageBatch&SendMessageBatchRequestEntry.1.Id=!"
            + "&SendMessageBatchRequestEntry.1.MessageBody=x"
            + " | AWS.SimpleQueueService.InvalidBatchEntryId",
        "errors | Action=SendMessageBatch&SendMessageBatchRequestEntry.1.MessageBody=x"
            + " | AWS.SimpleQueueService.InvalidBatchEntryId",
        "errors | Action=SendMessage&MessageBody=%EF%BF%BF | InvalidMessageContents",
        "errors | Action=SendMessage&MessageBody=x&MessageAttribute.1.Name=n"
            + "&MessageAttribute.1.Value.DataType=String"
            + "&MessageAttribute.1.Value.StringValue=%EF%BF%BE | InvalidMessageContents",
      })
  void query_protocol_is_refused_in_json(String queue, String form, String code) throws Exception {
    createQueue("errors", Map.of());

    HttpResponse<String> answer = query(queue, form);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(json(answer).at("/Error/Code").asText()).isEqualTo(code);
    assertThat(json(answer).at("/Error/Type").asText()).isEqualTo("Sender");
    assertThat(json(answer).at("/Error/Message").asText()).isNotEmpty();
    assertThat(json(answer).path("RequestId").asText()).isNotEmpty();
  }

  @ParameterizedTest
  @CsvSource({"text/xml, 200", "*/*, 200", "no media type, 200", "application/json, 400"})
  void engine_answers_a_query_string_only_if_the_caller_accepts_xml(String accept, int status)
      throws Exception {
    createQueue("get", Map.of());
    String target = "/000000000000/get?Action=SendMessage&MessageBody=x";

    HttpResponse<String> answer = send("sqs", "GET", target, Map.of("Accept", accept), "");

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith("text/xml");
    assertThat(answer.body().contains("UnacceptedResponseContentTypeRejection"))
        .isEqualTo(status == 400);
  }

  @Test
  void entries_of_a_batch_need_ids_of_the_right_form() {
    String url = createQueue("entries", Map.of());
    for (String id : List.of("a b", "a".repeat(81))) {
      assertThatThrownBy(() -> sendBatch(url, id)).isInstanceOf(InvalidBatchEntryIdException.class);
    }
    sendBatch(url, "a".repeat(80));
  }

  @Test
  void message_may_have_a_megabyte() {
    String url = createQueue("large", Map.of());

    sqs.sendMessage(r -> r.queueUrl(url).messageBody("x".repeat(1024 * 1024)));

    assertThatThrownBy(
            () -> sqs.sendMessage(r -> r.queueUrl(url).messageBody("x".repeat(1024 * 1024 + 1))))
        .isInstanceOf(AwsServiceException.class);
  }

  @Test
  void name_of_a_deleted_queue_is_blocked_for_a_minute() {
    String url = createQueue("deleted", Map.of());
    sqs.deleteQueue(r -> r.queueUrl(url));
    CLOCK.advance(Duration.ofSeconds(59));
    assertThatThrownBy(() -> createQueue("deleted", Map.of()))
        .isInstanceOf(QueueDeletedRecentlyException.class);

    CLOCK.advance(Duration.ofSeconds(1));

    assertThat(createQueue("deleted", Map.of())).isEqualTo(url);
  }

  @Test
  void table_answers_and_conditions_hold() {
    createTable("items");
    Map<String, AttributeValue> item = Map.of("id", AttributeValue.fromS("a"));
    dynamoDb.putItem(r -> r.tableName("items").item(item));

    assertThat(dynamoDb.getItem(r -> r.tableName("items").key(item)).item()).isEqualTo(item);
    assertThatThrownBy(
            () ->
                dynamoDb.putItem(
                    r ->
                        r.tableName("items")
                            .item(item)
                            .conditionExpression("attribute_not_exists(id)")))
        .isInstanceOf(ConditionalCheckFailedException.class);
  }

  @Test
  void arns_and_records_of_tables_have_the_region_of_the_cloud() {
    createTable("streamed");
    dynamoDb.updateTable(
        r ->
            r.tableName("streamed")
                .streamSpecification(s -> s.streamEnabled(true).streamViewType("KEYS_ONLY")));
    Map<String, AttributeValue> item = Map.of("id", AttributeValue.fromS("ddblocal"));
    dynamoDb.putItem(r -> r.tableName("streamed").item(item));

    String stream = dynamoDb.describeTable(r -> r.tableName("streamed")).table().latestStreamArn();
    assertThat(stream).startsWith("arn:aws:dynamodb:us-east-1:000000000000:table/streamed/stream/");
    try (var streams = client(DynamoDbStreamsClient.builder(), KEY)) {
      String shard =
          streams
              .describeStream(r -> r.streamArn(stream))
              .streamDescription()
              .shards()
              .get(0)
              .shardId();
      String iterator =
          streams
              .getShardIterator(
                  r -> r.streamArn(stream).shardId(shard).shardIteratorType("TRIM_HORIZON"))
              .shardIterator();
      assertThat(streams.getRecords(r -> r.shardIterator(iterator)).records())
          .singleElement()
          .satisfies(
              change -> {
                assertThat(change.awsRegion()).isEqualTo("us-east-1");
                assertThat(change.dynamodb().keys()).isEqualTo(item);
              });
    }
  }

  @Test
  void exchanges_are_observed_with_the_answer_that_the_caller_got() throws Exception {
    String url = createQueue("observed", Map.of());
    BlockingQueue<Exchange> observed = new LinkedBlockingQueue<>();
    endpoint.observe(
        exchange -> {
          if (exchange.call().resource().equals(Optional.of("observed"))) {
            observed.add(exchange);
          }
        });

    sqs.sendMessage(r -> r.queueUrl(url).messageBody("\u00e9"));
    Exchange sent = next(observed);
    assertThat(sent.call().body()).contains("\u00e9");
    assertThat(sent.target()).isEqualTo("/");
    assertThat(sent.headers()).containsEntry("x-amz-target", "AmazonSQS.SendMessage");
    assertThat(sent.status()).isEqualTo(200);
    assertThat(sent.answer().orElseThrow()).contains("MessageId");

    sqs.purgeQueue(r -> r.queueUrl(url));
    assertThat(next(observed).answer()).isPresent();

    try (var injection =
        FAULTS.inject(
            call -> call.resource().equals(Optional.of("observed")), 1, new Fault.Unanswered())) {
      assertThatThrownBy(() -> unretried().sendMessage(r -> r.queueUrl(url).messageBody("x")))
          .isInstanceOf(SdkClientException.class);
      assertThat(injection.count()).isOne();
    }
    assertThat(next(observed).answer()).isEmpty();
  }

  private static Exchange next(BlockingQueue<Exchange> observed) throws InterruptedException {
    return Objects.requireNonNull(observed.poll(10, TimeUnit.SECONDS), "no exchange observed");
  }

  /** Characters of one to four bytes in UTF-8; U+0090 is a byte on its own in ISO 8859-1. */
  @ParameterizedTest
  @ValueSource(strings = {"a", "\u0090", "\u00e9", "\u20ac", "\ud83d\ude80"})
  void engines_keep_every_character(String text) {
    createTable("texts" + text.codePointAt(0));
    Map<String, AttributeValue> item = Map.of("id", AttributeValue.fromS(text));
    dynamoDb.putItem(r -> r.tableName("texts" + text.codePointAt(0)).item(item));
    String url = createQueue("texts" + text.codePointAt(0), Map.of());
    sqs.sendMessage(r -> r.queueUrl(url).messageBody(text));

    assertThat(dynamoDb.scan(r -> r.tableName("texts" + text.codePointAt(0))).items())
        .containsExactly(item);
    assertThat(sqs.receiveMessage(r -> r.queueUrl(url)).messages())
        .extracting(message -> message.body())
        .containsExactly(text);
  }

  @Test
  void repetition_by_an_sdk_is_recorded_as_its_second_attempt() {
    createTable("repeated");
    REQUESTS.clear();
    AtomicInteger answers = new AtomicInteger();
    ExecutionInterceptor firstAnswerLost =
        new ExecutionInterceptor() {
          @Override
          public SdkHttpResponse modifyHttpResponse(
              Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            return answers.incrementAndGet() == 1
                ? context.httpResponse().toBuilder().statusCode(500).build()
                : context.httpResponse();
          }
        };
    try (DynamoDbClient client =
        client(
            DynamoDbClient.builder()
                .overrideConfiguration(c -> c.addExecutionInterceptor(firstAnswerLost)),
            KEY)) {
      client.getItem(r -> r.tableName("repeated").key(Map.of("id", AttributeValue.fromS("a"))));
    }
    assertThat(REQUESTS.list()).hasSize(2);
    assertThat(REQUESTS.list())
        .extracting(r -> r.invocation())
        .containsOnly(REQUESTS.list().get(0).invocation());
  }

  @Test
  void calls_are_recorded_with_principal_and_resource() {
    createTable("recorded");
    String url = createQueue("recorded", Map.of());
    REQUESTS.clear();

    dynamoDb.getItem(r -> r.tableName("recorded").key(Map.of("id", AttributeValue.fromS("a"))));
    sqs.receiveMessage(r -> r.queueUrl(url));

    assertThat(REQUESTS.of("Authorizer"))
        .extracting(
            r -> r.service(), r -> r.operation(), r -> r.resource().orElse(""), r -> r.status())
        .containsExactly(
            tuple("dynamodb", "GetItem", "recorded", 200),
            tuple("sqs", "ReceiveMessage", "recorded", 200));
    assertThat(REQUESTS.list()).extracting(r -> r.at()).containsOnly(CLOCK.instant());
    assertThat(REQUESTS.count(r -> r.service().equals("sqs"))).isOne();
  }

  @Test
  void unknown_credentials_are_refused() {
    AccessKey stranger = new AccessKey("ASIASTRANGER", "secret", "token");
    try (DynamoDbClient client = client(DynamoDbClient.builder(), stranger);
        StsClient stsClient = client(StsClient.builder(), stranger)) {
      assertThatThrownBy(client::listTables)
          .asInstanceOf(type(AwsServiceException.class))
          .returns(400, e -> e.statusCode())
          .extracting(e -> e.awsErrorDetails().errorCode())
          .isEqualTo("UnrecognizedClientException");
      assertThatThrownBy(
              () -> stsClient.assumeRole(r -> r.roleArn(TENANT_ROLE).roleSessionName("session")))
          .asInstanceOf(type(AwsServiceException.class))
          .returns(403, e -> e.statusCode())
          .extracting(e -> e.awsErrorDetails().errorCode())
          .isEqualTo("InvalidClientTokenId");
    }
    assertThat(REQUESTS.list()).isEmpty();
  }

  @Test
  void key_with_another_session_token_is_refused() {
    try (SqsClient client =
        client(SqsClient.builder(), new AccessKey(KEY.accessKeyId(), "secret", "other"))) {
      assertThatThrownBy(client::listQueues).isInstanceOf(AwsServiceException.class);
    }
  }

  @Test
  void assumed_role_carries_tags_until_it_expires() {
    Credentials credentials =
        sts.assumeRole(
                r ->
                    r.roleArn(TENANT_ROLE)
                        .roleSessionName("acme")
                        .durationSeconds(900)
                        .tags(Tag.builder().key("tenantId").value("acme").build()))
            .credentials();
    assertThat(credentials.expiration()).isEqualTo(CLOCK.instant().plusSeconds(900));
    AccessKey key =
        new AccessKey(
            credentials.accessKeyId(), credentials.secretAccessKey(), credentials.sessionToken());
    try (DynamoDbClient client = client(DynamoDbClient.builder(), key)) {
      client.listTables();
      assertThat(REQUESTS.list().get(1).principal())
          .isEqualTo(
              new Principal(
                  "Authorizer",
                  TENANT_ROLE,
                  Map.of("tenantId", "acme"),
                  Optional.of(credentials.expiration().minusSeconds(900))));

      CLOCK.advance(Duration.ofMinutes(15));

      assertThatThrownBy(client::listTables)
          .asInstanceOf(type(AwsServiceException.class))
          .extracting(e -> e.awsErrorDetails().errorCode())
          .isEqualTo("ExpiredTokenException");
    }
  }

  @Test
  void caller_is_told_its_identity() {
    GetCallerIdentityResponse caller = sts.getCallerIdentity();

    assertThat(caller.account()).isEqualTo("000000000000");
    assertThat(caller.arn()).startsWith("arn:aws:sts::000000000000:assumed-role/");
    assertThat(caller.userId()).endsWith(caller.arn().replaceFirst(".*/", ":"));
  }

  @Test
  void role_that_is_not_there_cannot_be_assumed() {
    assertThatThrownBy(
            () -> sts.assumeRole(r -> r.roleArn(TENANT_ROLE + "2").roleSessionName("acme")))
        .asInstanceOf(type(AwsServiceException.class))
        .returns(403, e -> e.statusCode())
        .extracting(e -> e.awsErrorDetails().errorCode())
        .isEqualTo("AccessDenied");
  }

  @ParameterizedTest
  @CsvSource({"GET, /?Action=Nope, ''", "POST, /, Action=Nope"})
  void security_tokens_are_refused_in_xml(String method, String target, String form)
      throws Exception {
    Map<String, String> headers =
        Map.of("Content-Type", "application/x-www-form-urlencoded", "Accept", JSON);
    HttpResponse<String> answer =
        send("sts", method, target, method.equals("GET") ? Map.of() : headers, form);

    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(400);
    assertThat(answer.headers().firstValue("Content-Type")).contains("text/xml");
    assertThat(answer.body()).contains("<Code>InvalidAction</Code>");
  }

  private static Map<QueueAttributeName, String> attributes(String url) {
    return sqs.getQueueAttributes(r -> r.queueUrl(url).attributeNames(QueueAttributeName.ALL))
        .attributes();
  }

  private static void setPolicy(String url, String policy) {
    sqs.setQueueAttributes(
        r -> r.queueUrl(url).attributes(Map.of(QueueAttributeName.POLICY, policy)));
  }

  private static HttpResponse<String> query(String queue, String form) throws IOException {
    return send(
        "sqs",
        "POST",
        "/000000000000/" + queue,
        Map.of("Content-Type", "application/x-www-form-urlencoded", "Accept", JSON),
        form);
  }

  private static HttpResponse<String> sqsCall(String operation, String request) throws IOException {
    return send("sqs", "POST", "/", Map.of("X-Amz-Target", "AmazonSQS." + operation), request);
  }

  private static HttpResponse<String> send(
      String service, String method, String target, Map<String, String> headers, String body)
      throws IOException {
    return new ServiceClient(endpoint.endpoint(), KEY)
        .send(service, method, target, headers, body, Duration.ofSeconds(10));
  }

  private static void sendBatch(String url, String id) {
    var entry = SendMessageBatchRequestEntry.builder().id(id).messageBody("x").build();
    sqs.sendMessageBatch(r -> r.queueUrl(url).entries(List.of(entry)));
  }

  private static JsonNode json(HttpResponse<String> answer) throws IOException {
    return new ObjectMapper().readTree(answer.body());
  }

  private static String createQueue(String name, Map<QueueAttributeName, String> attributes) {
    return sqs.createQueue(r -> r.queueName(name).attributes(attributes)).queueUrl();
  }

  private static String level(String url) {
    return sqs.getQueueAttributes(
            r ->
                r.queueUrl(url)
                    .attributeNames(List.of(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES)))
        .attributes()
        .getOrDefault(QueueAttributeName.APPROXIMATE_NUMBER_OF_MESSAGES, "");
  }

  private static void createTable(String name) {
    dynamoDb.createTable(
        r ->
            r.tableName(name)
                .billingMode(BillingMode.PAY_PER_REQUEST)
                .keySchema(
                    KeySchemaElement.builder().attributeName("id").keyType(KeyType.HASH).build())
                .attributeDefinitions(
                    AttributeDefinition.builder()
                        .attributeName("id")
                        .attributeType(ScalarAttributeType.S)
                        .build()));
  }

  private static <B extends AwsClientBuilder<B, C>, C> C client(B builder, AccessKey key) {
    return client(builder, key, endpoint);
  }

  /** A client that sends its requests to an endpoint, signed with an access key. */
  static <B extends AwsClientBuilder<B, C>, C> C client(
      B builder, AccessKey key, Endpoint endpoint) {
    return builder
        .region(Region.US_EAST_1)
        .endpointOverride(endpoint.endpoint())
        .credentialsProvider(
            StaticCredentialsProvider.create(
                AwsSessionCredentials.create(
                    key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
        .build();
  }
}
