package dev.tollgate.aws.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.tollgate.aws.ScriptedAws;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.aws.ScriptedAws.Request;
import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.SpendResult;
import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.provisioning.Drift;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.Correction;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions.Consistency;
import dev.tollgate.core.session.Sockets.PostResult;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** How the adapters handle responses that the engines cannot be made to give. */
class AwsEnvironmentTest {
  private static final Duration LEASE = Duration.ofSeconds(30);

  private final ScriptedAws services = new ScriptedAws();
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final AwsEnvironment aws = new AwsEnvironment(services.environment(), clock);
  private final BucketId bucket = Samples.bucketId();
  private final TenantId tenant = bucket.tenant();

  @AfterEach
  void stop() {
    services.close();
  }

  private List<Token> tokens(int count) {
    return IntStream.range(0, count)
        .mapToObj(i -> new Token("t" + i, bucket, Samples.NOW, Samples.NOW))
        .toList();
  }

  private List<Lease> leases(int count) {
    Instant end = clock.instant().plus(LEASE);
    return IntStream.range(0, count).mapToObj(i -> new Lease("r" + i, end)).toList();
  }

  private static String failed(String... ids) {
    return List.of(ids).stream()
        .map(id -> "{\"Id\":\"%s\",\"Code\":\"InternalError\",\"SenderFault\":false}".formatted(id))
        .toList()
        .toString();
  }

  // The environment

  @Test
  void a_missing_variable_fails_only_the_ports_that_need_it() {
    Map<String, String> environment = services.environment();
    environment.remove("TIER_TABLE");
    environment.remove("WEBSOCKET_URL");
    environment.put("TENANT_ROLE_ARN", "");
    AwsEnvironment partial = new AwsEnvironment(environment, clock);

    assertThatCode(partial::tenants).doesNotThrowAnyException();
    assertMissing("TIER_TABLE", partial, AwsEnvironment::tiers);
    assertMissing("WEBSOCKET_URL", partial, AwsEnvironment::sockets);
    assertMissing("TENANT_ROLE_ARN", partial, AwsEnvironment::buckets);
    assertMissing("AWS_REGION", new AwsEnvironment(Map.of(), clock), AwsEnvironment::tenants);
  }

  private static void assertMissing(
      String name, AwsEnvironment environment, Consumer<AwsEnvironment> getter) {
    assertThatThrownBy(() -> getter.accept(environment))
        .isInstanceOf(MissingVariable.class)
        .hasMessageContaining(name);
  }

  @Test
  void all_clients_share_one_thread_for_timeouts() {
    services.on("GetQueueAttributes", request -> Answer.ok("{\"Attributes\":{}}"));
    Set<Thread> before = Thread.getAllStackTraces().keySet();

    aws.connections().countDown(tenant, Set.of("c"));
    aws.tokenQueue().level(bucket);
    aws.bucketQueues().delete(bucket);
    aws.fillSchedules().delete(bucket);

    assertThat(Thread.getAllStackTraces().keySet())
        .filteredOn(thread -> !before.contains(thread))
        .extracting(Thread::getName)
        .containsOnlyOnce("aws-timeouts")
        .noneMatch(name -> name.startsWith("sdk-"));
  }

  // Credentials of requests

  @Test
  void a_tenants_rows_and_queues_are_accessed_with_its_credentials() {
    services.on("GetQueueAttributes", request -> Answer.ok("{\"Attributes\":{}}"));

    aws.buckets().list(tenant);
    aws.sessions().page(tenant, Optional.empty(), 10, Consistency.CONSISTENT);
    aws.connections().countDown(tenant, Set.of("c"));
    aws.tokenQueue().level(bucket);
    aws.bucketQueues().delete(bucket);
    aws.fillSchedules().delete(bucket);
    aws.silos().find(tenant);
    aws.siloQueues().delete(tenant);

    assertThat(services.requests("AssumeRole"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"));
    assertThat(services.operations()).hasSize(10);
    assertThat(services.operations().stream().filter(name -> !name.equals("AssumeRole")))
        .allSatisfy(
            name ->
                assertThat(services.requests(name))
                    .allSatisfy(
                        request -> {
                          assertThat(request.accessKey()).isEqualTo(tenant.value());
                          assertThat(request.token()).contains("token of " + tenant);
                        }));
  }

  @Test
  void tenants_and_tiers_are_read_with_the_functions_own_credentials() {
    aws.tenants().find(tenant);
    aws.tiers().list();
    aws.factsReader().tenantExists(tenant);

    assertThat(services.operations()).containsExactly("GetItem", "Scan", "GetItem");
    assertThat(services.requests("GetItem"))
        .allSatisfy(request -> assertThat(request.accessKey()).isEqualTo("own"));
  }

  @Test
  void a_tenant_without_credentials_gets_no_request() {
    services.on("AssumeRole", request -> Answer.failure(403, "AccessDenied"));

    assertThatThrownBy(() -> aws.buckets().list(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("AssumeRole");
    assertThat(services.operations()).containsOnly("AssumeRole");
  }

  // Retries

  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "SendMessageBatch", "UpdateItem"})
  void a_failed_request_that_is_not_idempotent_is_not_retried(String operation) {
    services.on(operation, request -> Answer.failure(500, "InternalFailure"));
    assertThatThrownBy(() -> request(operation))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining(operation);

    assertThat(services.requests(operation)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "UpdateItem"})
  void a_throttled_request_is_unavailable_and_not_retried(String operation) {
    services.on(operation, request -> Answer.failure(400, "ThrottlingException"));
    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);

    assertThat(services.requests(operation)).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"ReceiveMessage", "SendMessageBatch", "UpdateItem"})
  void a_request_that_is_not_idempotent_is_not_retried_on_a_broken_connection(String operation) {
    AtomicInteger count = new AtomicInteger();
    services.on(
        operation, request -> count.getAndIncrement() == 0 ? Answer.ok("{}") : Answer.BREAK);
    request(operation);

    assertThatThrownBy(() -> request(operation)).isInstanceOf(Unavailable.class);

    assertThat(services.requests(operation)).hasSize(2);
  }

  private void request(String operation) {
    switch (operation) {
      case "ReceiveMessage" -> aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG);
      case "SendMessageBatch" -> aws.tokenQueue().put(bucket, tokens(1));
      default -> aws.connections().countUp(tenant, "c", 1);
    }
  }

  @Test
  void a_long_search_waits_for_a_second_and_a_short_search_does_not() {
    services.on("ReceiveMessage", request -> Answer.ok("{}"));
    aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG);
    aws.tokenQueue().reserve(bucket, 1, LEASE, Search.SHORT);

    assertThat(services.requests("ReceiveMessage"))
        .satisfiesExactly(
            request -> assertThat(request.body()).containsPattern("\"WaitTimeSeconds\":1\\b"),
            request -> assertThat(request.body()).containsPattern("\"WaitTimeSeconds\":0\\b"));
  }

  @Test
  void a_receive_without_response_times_out() throws InterruptedException {
    CountDownLatch end = new CountDownLatch(1);
    services.on(
        "ReceiveMessage",
        request -> {
          await(end);
          return Answer.ok("{}");
        });

    assertThatThrownBy(() -> aws.tokenQueue().reserve(bucket, 1, LEASE, Search.LONG))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("ReceiveMessage");
    end.countDown();

    assertThat(services.requests("ReceiveMessage")).hasSize(1);
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void a_failed_read_is_retried() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        "GetItem",
        request ->
            count.incrementAndGet() < 3
                ? Answer.failure(500, "InternalServerError")
                : Answer.ok("{}"));

    assertThat(aws.connections().count(tenant)).isZero();

    assertThat(services.requests("GetItem")).hasSize(3);
  }

  @Test
  void a_read_that_fails_repeatedly_is_unavailable() {
    services.on("GetItem", request -> Answer.failure(400, "ThrottlingException"));

    assertThatThrownBy(() -> aws.tenants().find(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("GetItem");

    assertThat(services.requests("GetItem")).hasSizeBetween(2, 3);
  }

  // Partly successful batches

  @Test
  void put_returns_the_tokens_that_failed() {
    services.on(
        "SendMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("1", "9"))));
    List<Token> tokens = tokens(10);

    assertThat(aws.tokenQueue().put(bucket, tokens)).containsExactly(tokens.get(1), tokens.get(9));
  }

  @Test
  void put_returns_all_tokens_of_a_refused_batch() {
    services.on(
        "SendMessageBatch",
        request ->
            request.body().contains("\\\"t15\\\"")
                ? Answer.failure(403, "RequestThrottled")
                : Answer.ok("{}"));
    List<Token> tokens = tokens(25);

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens.subList(10, 20));
  }

  @Test
  void put_returns_all_tokens_if_every_batch_is_refused() {
    services.on("SendMessageBatch", request -> Answer.failure(403, "RequestThrottled"));
    List<Token> tokens = tokens(25);

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens);
  }

  @Test
  void put_to_a_queue_that_some_servers_do_not_know_returns_their_tokens() {
    List<Token> tokens = tokens(25);
    services.on(
        "SendMessageBatch",
        request -> request.body().contains("\\\"t15\\\"") ? noQueue() : Answer.ok("{}"));

    assertThat(aws.tokenQueue().put(bucket, tokens)).isEqualTo(tokens.subList(10, 20));

    services.on("SendMessageBatch", request -> noQueue());
    assertThatThrownBy(() -> aws.tokenQueue().put(bucket, tokens)).isInstanceOf(MissingQueue.class);
  }

  @Test
  void put_does_not_return_tokens_that_it_may_have_put() {
    services.on(
        "SendMessageBatch",
        request ->
            request.body().contains("\\\"t15\\\"")
                ? Answer.failure(500, "InternalFailure")
                : Answer.ok("{}"));

    assertThat(aws.tokenQueue().put(bucket, tokens(25))).isEmpty();
  }

  @Test
  void put_without_any_known_result_is_unavailable() {
    services.on("SendMessageBatch", request -> Answer.failure(500, "InternalFailure"));

    assertThatThrownBy(() -> aws.tokenQueue().put(bucket, tokens(25)))
        .isInstanceOf(Unavailable.class);
  }

  @Test
  void settle_and_give_back_return_the_failed_leases() {
    services.on(
        "DeleteMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("2"))));
    services.on(
        "ChangeMessageVisibilityBatch",
        request -> Answer.ok("{\"Failed\":%s}".formatted(failed("0"))));
    List<Lease> leases = leases(3);

    assertThat(aws.tokenQueue().settle(bucket, leases)).containsExactly(leases.get(2));
    assertThat(aws.tokenQueue().giveBack(bucket, leases)).containsExactly(leases.get(0));
  }

  @Test
  void a_claim_of_up_to_n_counts_the_tokens_that_were_certainly_spent() {
    services.on(
        "ReceiveMessage",
        request ->
            Answer.ok(
                """
                {"Messages":[%s,%s,%s]}"""
                    .formatted(received("a"), received("b"), received("c"))));
    services.on(
        "DeleteMessageBatch", request -> Answer.ok("{\"Failed\":%s}".formatted(failed("1"))));

    SpendResult spent =
        new Claims(
                aws.buckets(),
                aws.tokenQueue(),
                aws.fillRequests(),
                Runnable::run,
                pause -> {},
                clock)
            .spendUpTo(bucket, Optional.of(Samples.bucket(bucket)), 3);

    assertThat(spent.tokens()).isEqualTo(2);
    assertThat(spent.shortfall()).containsInstanceOf(ClaimResult.Denied.class);
    assertThat(services.operations())
        .containsExactly("AssumeRole", "ReceiveMessage", "DeleteMessageBatch");
  }

  private static String received(String receipt) {
    return """
        {"MessageId":"m","ReceiptHandle":"%s","Body":"a",
         "MD5OfBody":"0cc175b9c0f1b6a831c399e269772661"}"""
        .formatted(receipt);
  }

  @Test
  void an_expired_lease_is_not_requested() {
    List<Lease> ended = leases(2);
    clock.advance(LEASE);

    assertThat(aws.tokenQueue().settle(bucket, ended)).isEqualTo(ended);
    assertThat(aws.tokenQueue().giveBack(bucket, ended)).isEqualTo(ended);

    assertThat(services.operations()).containsOnly("AssumeRole");
  }

  // Facts

  @Test
  void unprocessed_facts_are_requested_once_more() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        "BatchGetItem",
        request ->
            Answer.ok(
                count.getAndIncrement() == 0
                    ? """
                      {"Responses":{"LimitTable":[
                        {"tenantId":{"S":"t"},"key":{"S":"connections"},"itemCount":{"N":"4"}}]},
                       "UnprocessedKeys":{"TenantTable":{"Keys":[{"tenantId":{"S":"t"}}]}}}"""
                    : """
                      {"Responses":{},"UnprocessedKeys":{}}"""));

    assertThat(aws.factsReader().read(tenant, Samples.sessionId()).connections()).isEqualTo(4);

    assertThat(services.requests("BatchGetItem")).hasSize(2);
    assertThat(services.requests("BatchGetItem").get(0).body())
        .contains("\"ConsistentRead\":true", "TenantTable", "SessionTable", "bucket:connect");
    assertThat(services.requests("BatchGetItem").get(1).body()).doesNotContain("SessionTable");
  }

  @Test
  void facts_that_are_unprocessed_twice_are_unavailable() {
    services.on(
        "BatchGetItem",
        request ->
            Answer.ok(
                """
                {"UnprocessedKeys":{"TenantTable":{"Keys":[{"tenantId":{"S":"t"}}]}}}"""));

    assertThatThrownBy(() -> aws.factsReader().read(tenant, Samples.sessionId()))
        .isInstanceOf(Unavailable.class);

    assertThat(services.requests("BatchGetItem")).hasSize(2);
  }

  // Queues

  private static Answer noQueue() {
    return Answer.failure(400, "QueueDoesNotExist");
  }

  private static Answer anyQueue() {
    return Answer.ok("{\"QueueUrl\":\"any\"}");
  }

  @Test
  void a_queue_has_the_name_of_its_bucket_encryption_and_the_requested_retention() {
    services.on("GetQueueAttributes", request -> noQueue());
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.CREATED);

    assertThat(services.requests("CreateQueue").get(0).body())
        .contains(
            "\"QueueName\":\"blue_connect_%s_token_bucket\"".formatted(tenant),
            "\"SqsManagedSseEnabled\":\"true\"",
            "\"MessageRetentionPeriod\":\"1209600\"",
            "\"tags\":{\"tollgate-deployment\":\"Tollgate-blue\"}");
    assertThat(services.requests("TagQueue")).isEmpty();
  }

  @Test
  void a_queue_with_other_attributes_is_updated() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueNameExists"));

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.EXISTED);

    assertThat(services.requests("SetQueueAttributes"))
        .singleElement()
        .satisfies(request -> assertThat(request.body()).contains("1209600"));
    assertThat(services.requests("TagQueue"))
        .singleElement()
        .satisfies(request -> assertThat(request.body()).contains("Tollgate-blue"));
  }

  @Test
  void a_queue_deleted_just_now_cannot_be_created_although_it_still_responds() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueDeletedRecently"));

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.RECENTLY_DELETED);
  }

  // Queues of silos

  private String silo(String rest) {
    return "blue_silo_" + tenant + rest;
  }

  @Test
  void a_silo_has_a_high_throughput_fifo_queue_with_a_dead_letter_queue() {
    services.on("GetQueueAttributes", request -> noQueue());
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.CREATED);

    List<Request> created = services.requests("CreateQueue");
    assertThat(created)
        .extracting(Request::body)
        .allSatisfy(
            body ->
                assertThat(body)
                    .contains(
                        "\"FifoQueue\":\"true\"",
                        "\"DeduplicationScope\":\"messageGroup\"",
                        "\"FifoThroughputLimit\":\"perMessageGroupId\"",
                        "\"SqsManagedSseEnabled\":\"true\"",
                        "\"VisibilityTimeout\":\"90\""));
    assertThat(created.get(0).body())
        .contains(silo("_dead.fifo"), "\"MessageRetentionPeriod\":\"1209600\"");
    assertThat(created.get(1).body())
        .contains(
            silo(".fifo"),
            "\"MessageRetentionPeriod\":\"345600\"",
            "{\\\"deadLetterTargetArn\\\":\\\"arn:aws:sqs:eu-central-1:000000000000:"
                + silo("_dead.fifo")
                + "\\\",\\\"maxReceiveCount\\\":\\\"5\\\"}");
    assertThat(services.requests("SetQueueAttributes")).isEmpty();
  }

  @Test
  void a_silos_queues_with_other_attributes_are_updated_and_stay_fifo() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueNameExists"));

    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.EXISTED);

    assertThat(services.requests("SetQueueAttributes"))
        .hasSize(2)
        .extracting(Request::body)
        .allSatisfy(
            body -> assertThat(body).contains("VisibilityTimeout").doesNotContain("FifoQueue"));
  }

  @Test
  void a_silos_queues_deleted_just_now_cannot_be_created_although_they_still_respond() {
    services.on(
        "CreateQueue",
        request ->
            request.body().contains("\"QueueName\":\"" + silo("_dead.fifo"))
                ? anyQueue()
                : Answer.failure(400, "QueueDeletedRecently"));
    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.RECENTLY_DELETED);

    services.on("CreateQueue", request -> Answer.failure(400, "QueueDeletedRecently"));
    assertThat(aws.siloQueues().ensure(tenant)).isEqualTo(QueueCreation.RECENTLY_DELETED);
  }

  @Test
  void a_closed_silo_denies_sending_until_it_is_created_again() {
    aws.siloQueues().close(tenant);

    String closing = services.requests("SetQueueAttributes").get(0).body();
    assertThat(closing)
        .contains(
            "\\\"Effect\\\":\\\"Deny\\\",\\\"Principal\\\":\\\"*\\\"",
            "\\\"Action\\\":\\\"sqs:SendMessage\\\"",
            "\\\"Resource\\\":\\\"arn:aws:sqs:eu-central-1:000000000000:" + silo(".fifo"));
    services.on(
        "GetQueueAttributes",
        request ->
            Answer.ok(
                request.body().contains("_dead")
                    ? "{\"Attributes\":{}}"
                    : "{\"Attributes\":{\"Policy\":\"{\\\"Sid\\\":\\\"Closed\\\"}\"}}"));
    services.on("CreateQueue", request -> anyQueue());
    assertThat(aws.siloQueues().isClosed(tenant)).isTrue();

    aws.siloQueues().ensure(tenant);

    assertThat(services.requests("SetQueueAttributes"))
        .hasSize(2)
        .last()
        .extracting(Request::body)
        .asString()
        .contains(silo(".fifo"), "\"Policy\":\"\"");
  }

  @Test
  void a_queue_with_a_foreign_policy_does_not_count_as_closed() {
    services.on(
        "GetQueueAttributes",
        request -> Answer.ok("{\"Attributes\":{\"Policy\":\"{\\\"Sid\\\":\\\"EnforceTls\\\"}\"}}"));
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.siloQueues().isClosed(tenant)).isFalse();
    aws.siloQueues().ensure(tenant);

    assertThat(services.requests("SetQueueAttributes")).isEmpty();
  }

  @Test
  void a_dead_letter_is_deleted_only_after_the_pool_has_it() {
    services.on(
        "ReceiveMessage",
        request ->
            Answer.ok(
                """
                {"Messages":[{"MessageId":"id-1","ReceiptHandle":"r-1","Body":"letter","MD5OfBody":"f5b75010ea8a54b96f8fe7dafac65c18",
                  "Attributes":{"MessageGroupId":"acme:1"}}]}"""));
    services.on("SendMessage", request -> Answer.failure(403, "AccessDenied"));

    assertThatThrownBy(() -> aws.siloQueues().moveDeadLetters(tenant))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("the pool's dead letters");

    assertThat(services.requests("DeleteMessage")).isEmpty();
    assertThat(services.requests("SendMessage"))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body())
                  .contains(
                      "blue_tollgate_pool_dead.fifo",
                      "\"MessageGroupId\":\"acme:1\"",
                      "\"MessageDeduplicationId\":\"id-1\"");
            });
    assertThat(services.requests("ReceiveMessage").get(0).accessKey()).isEqualTo(tenant.value());
  }

  @Test
  void dead_letters_in_flight_are_moved_later() {
    services.on(
        "GetQueueAttributes",
        request -> Answer.ok("{\"Attributes\":{\"ApproximateNumberOfMessagesNotVisible\":\"3\"}}"));

    assertThat(aws.siloQueues().moveDeadLetters(tenant)).isEqualTo(Progress.IN_PROGRESS);
  }

  // Schedules

  private String schedulePath() {
    return "/schedules/blue_connect_" + tenant;
  }

  private static JsonNode json(String text) {
    try {
      return new ObjectMapper().readTree(text);
    } catch (JsonProcessingException malformed) {
      throw new AssertionError(text, malformed);
    }
  }

  private Bucket opened(BucketSpec spec) {
    return Bucket.opened(bucket, spec, Samples.NOW);
  }

  private static BucketSpec spec(FillMode mode) {
    return new BucketSpec(Rate.perMinute(2), 6, new FillPolicy(mode, 15));
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

    new AwsEnvironment(environment, clock)
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

  @Test
  void an_existing_schedule_of_a_shard_is_not_changed() {
    services.on("POST /schedules/shard-7", request -> Answer.failure(409, "ConflictException"));

    aws.fillSchedules().put(new Shard(7));

    assertThat(services.operations()).containsExactly("POST /schedules/shard-7");
  }

  // Requests for fills

  private static final String PRODUCER =
      "POST /2015-03-31/functions/arn:aws:lambda:eu-central-1:000000000000:function:f:l/invocations";

  @Test
  void a_synchronous_fill_invokes_the_token_producer() {
    aws.fillRequests().sendAndWait(bucket);

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body())
                  .isEqualTo("{\"tenantId\":\"%s\",\"action\":\"connect\"}".formatted(tenant));
            });
  }

  @Test
  void an_asynchronous_fill_is_an_event() {
    aws.fillRequests().send(bucket);

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(request -> assertThat(request.invocationType()).contains("Event"));
  }

  @Test
  void a_failed_invocation_of_the_producer_is_not_retried() {
    services.on(PRODUCER, request -> Answer.failure(503, "ServiceException"));

    assertThatThrownBy(() -> aws.fillRequests().sendAndWait(bucket))
        .isInstanceOf(Unavailable.class);

    assertThat(services.requests(PRODUCER)).hasSize(1);
  }

  @Test
  void a_chunk_is_an_event_of_the_function_itself() {
    aws.selfInvocation("arn:aws:lambda:eu-central-1:000000000000:function:f:l")
        .send(new Chunk("visits", Optional.of(tenant), Optional.of(new TenantId("z")), 7));

    assertThat(services.requests(PRODUCER))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.invocationType()).contains("Event");
              assertThat(request.body())
                  .isEqualTo(
                      "{\"task\":\"visits\",\"after\":\"%s\",\"upTo\":\"z\",\"chunks\":\"7\"}"
                          .formatted(tenant));
            });
  }

  // Writes with a lost response

  @Test
  void a_ledger_write_with_a_lost_response_is_done_if_the_row_contains_it() {
    services.on("UpdateItem", request -> Answer.failure(500, "InternalServerError"));
    services.on(
        "GetItem",
        request ->
            Answer.ok(
                "{\"Item\":{\"write\":%s}}"
                    .formatted(
                        json(services.requests("UpdateItem").get(0).body())
                            .at("/ExpressionAttributeValues/:write"))));

    assertThat(
            aws.buckets()
                .replace(
                    Samples.bucket(bucket)
                        .retuned(BucketSpec.ofRate(Rate.perMinute(3)), Samples.NOW)))
        .isEqualTo(WriteResult.DONE);
  }

  @Test
  void a_ledger_write_with_a_lost_response_is_unavailable_if_the_row_does_not_contain_it() {
    services.on("UpdateItem", request -> Answer.failure(500, "InternalServerError"));
    services.on("GetItem", request -> Answer.ok("{\"Item\":{\"write\":{\"S\":\"another\"}}}"));

    assertThatThrownBy(
            () ->
                aws.buckets()
                    .replace(
                        Samples.bucket(bucket)
                            .retuned(BucketSpec.ofRate(Rate.perMinute(3)), Samples.NOW)))
        .isInstanceOf(Unavailable.class);
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

  private static String withoutClientToken(String body) {
    return body.replaceFirst("\"ClientToken\":\"[^\"]*\",?", "");
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

  /** Scripts the response of Scheduler: the schedule as it was put. */
  private void returnPutSchedule(String path) {
    String original = services.requests("POST " + path).get(0).body();
    services.on("GET " + path, request -> Answer.ok(original));
  }

  private static final Drift IN_SYNC = new Drift.InSync();

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

  @Test
  void schedules_and_queues_of_this_deployment_are_listed_with_the_functions_own_role() {
    services.on(
        "GET /schedules",
        request ->
            Answer.ok(
                """
                {"NextToken":"more","Schedules":[{"Name":"blue_connect_acme"},{"Name":"blue_sweep"},
                 {"Name":"connect_acme"},{"Name":"blue_con_nect_acme"},{"Name":"shard-7"}]}"""));
    services.on(
        "ListQueues",
        request ->
            Answer.ok(
                """
                {"NextToken":"more","QueueUrls":["https://sqs/1/blue_connect_acme_token_bucket",
                 "https://sqs/1/blue_silo_acme.fifo","https://sqs/1/blue_Connect_acme_token_bucket",
                 "https://sqs/1/blue_x_connect_acme_token_bucket","https://sqs/1/blue_tollgate_pool.fifo"]}"""));
    Page<BucketId> acme =
        new Page<>(
            List.of(new BucketId(new TenantId("acme"), Action.CONNECT)), Optional.of("more"));

    assertThat(aws.fillSchedules().list(Optional.empty(), 5)).isEqualTo(acme);
    assertThat(aws.bucketQueues().list(Optional.of("here"), 5)).isEqualTo(acme);

    assertThat(services.requests("ListQueues"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"))
        .satisfies(
            request ->
                assertThat(request.body())
                    .contains(
                        "\"QueueNamePrefix\":\"blue_\"",
                        "\"MaxResults\":5",
                        "\"NextToken\":\"here\""));
    assertThat(services.requests("GET /schedules"))
        .singleElement()
        .satisfies(request -> assertThat(request.accessKey()).isEqualTo("own"));
  }

  // Sockets

  @Test
  void a_socket_is_closed_at_the_address_of_its_clients() {
    aws.sockets().close("abc=");

    assertThat(services.operations()).hasSize(1);
    assertThat(services.operations().get(0)).startsWith("DELETE /abc/production/@connections/abc");
  }

  @Test
  void a_lost_socket_counts_as_closed_and_an_unreachable_one_does_not() {
    String close = "DELETE /abc/production/@connections/c";
    services.on(close, request -> Answer.failure(410, "GoneException"));
    assertThatCode(() -> aws.sockets().close("c")).doesNotThrowAnyException();

    services.on(close, request -> Answer.failure(403, "ForbiddenException"));
    assertThatThrownBy(() -> aws.sockets().close("c")).isInstanceOf(Unavailable.class);
  }

  @Test
  void a_socket_is_open_unless_it_is_lost_or_its_state_is_unknown() {
    String get = "GET /abc/production/@connections/c";
    services.on(get, request -> Answer.ok("{\"connectedAt\":\"2026-03-01T12:00:00Z\"}"));
    assertThat(aws.sockets().isOpen("c")).isTrue();

    services.on(get, request -> Answer.failure(410, "GoneException"));
    assertThat(aws.sockets().isOpen("c")).isFalse();

    services.on(get, request -> Answer.failure(429, "LimitExceededException"));
    assertThatThrownBy(() -> aws.sockets().isOpen("c")).isInstanceOf(Unavailable.class);
  }

  // Live tenants

  @Test
  void live_tenants_are_listed_in_pages_with_the_functions_own_credentials() {
    services.on(
        "Query",
        request ->
            Answer.ok(
                request.body().contains("ExclusiveStartKey")
                    ? """
                      {"Items":[{"tenantId":{"S":"b"},"key":{"S":"sessions"}}]}"""
                    : """
                      {"Items":[{"tenantId":{"S":"a"},"key":{"S":"sessions"}}],
                       "LastEvaluatedKey":{"live":{"S":"y"},"tenantId":{"S":"a"},
                                           "key":{"S":"sessions"}}}"""));

    assertThat(aws.liveTenants().list(Optional.empty(), 3))
        .containsExactly(new TenantId("a"), new TenantId("b"));
    assertThat(services.requests("Query")).hasSize(2);
    assertThat(aws.liveTenants().list(Optional.of(new TenantId("0")), 1))
        .containsExactly(new TenantId("a"));

    assertThat(services.requests("Query"))
        .hasSize(3)
        .allSatisfy(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body()).contains("\"IndexName\":\"live\"", "LimitTable");
            });
  }

  private static final String POST = "POST /abc/production/@connections/c";

  @Test
  void a_frame_is_sent_unchanged_with_the_functions_own_credentials() {
    assertThat(aws.sockets().post("c", "{\"t\":\"😀\"}")).isEqualTo(PostResult.SENT);

    assertThat(services.requests(POST))
        .singleElement()
        .satisfies(
            request -> {
              assertThat(request.body()).isEqualTo("{\"t\":\"😀\"}");
              assertThat(request.accessKey()).isEqualTo("own");
            });
  }

  @Test
  void a_correction_with_a_lost_response_is_retried_and_recognized() {
    List<String> corrections = new CopyOnWriteArrayList<>();
    services.on(
        "UpdateItem",
        request -> {
          Matcher name = CORRECTION.matcher(request.body());
          assertThat(name.find()).isTrue();
          corrections.add(name.group(1));
          return corrections.size() == 1
              ? Answer.failure(500, "InternalServerError")
              : overtakenBy(corrections.get(0));
        });

    assertThat(aws.connections().correct(tenant, ConnectionCount.NONE, correction()))
        .isEqualTo(WriteResult.DONE);

    assertThat(services.requests("UpdateItem")).hasSize(2);
  }

  @Test
  void a_correction_after_another_one_is_overtaken() {
    services.on("UpdateItem", request -> overtakenBy("another"));

    assertThat(aws.connections().correct(tenant, ConnectionCount.NONE, correction()))
        .isEqualTo(WriteResult.CONFLICT);
  }

  private static final Pattern CORRECTION = Pattern.compile("\":name\":\\{\"S\":\"([^\"]+)\"");

  private static Correction correction() {
    return new Correction(-1, Map.of(3, -1L));
  }

  private static Answer overtakenBy(String correction) {
    return new Answer(
        400,
        Optional.of("ConditionalCheckFailedException"),
        """
        {"__type":"com.amazonaws.dynamodb.v20120810#ConditionalCheckFailedException",
         "message":"The conditional request failed",
         "Item":{"tenantId":{"S":"t"},"key":{"S":"connections"},"correction":{"S":"%s"}}}"""
            .formatted(correction));
  }

  @Test
  void a_frame_to_a_lost_socket_is_gone_and_not_retried() {
    services.on(POST, request -> Answer.failure(410, "GoneException"));

    assertThat(aws.sockets().post("c", "{}")).isEqualTo(PostResult.GONE);

    assertThat(services.requests(POST)).hasSize(1);
  }

  @Test
  void a_throttled_frame_is_sent_again() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        POST,
        request ->
            count.incrementAndGet() < 2
                ? Answer.failure(429, "LimitExceededException")
                : Answer.ok(""));

    assertThat(aws.sockets().post("c", "{}")).isEqualTo(PostResult.SENT);

    assertThat(services.requests(POST)).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "429, LimitExceededException, 3",
    "500, InternalServerError, 1",
    "403, ForbiddenException, 1",
    "413, PayloadTooLargeException, 1",
    "400, BadRequestException, 1"
  })
  void a_failed_frame_is_sent_again_only_if_it_was_throttled(
      int status, String type, int attempts) {
    services.on(POST, request -> Answer.failure(status, type));

    assertThatThrownBy(() -> aws.sockets().post("c", "{}"))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("PostToConnection");

    assertThat(services.requests(POST)).hasSize(attempts);
  }

  // Messages

  @Test
  void unprocessed_rows_of_the_log_are_written_again_and_then_given_up() {
    MessageName one = new MessageName(Samples.sessionId(), "m-1");
    AtomicInteger left = new AtomicInteger(1);
    services.on(
        "BatchWriteItem",
        request ->
            Answer.ok(
                left.getAndDecrement() > 0
                    ? "{\"UnprocessedItems\":" + json(request.body()).path("RequestItems") + "}"
                    : "{\"UnprocessedItems\":{}}"));

    aws.messageLog().add(tenant, Set.of(one), clock.instant());
    assertThat(services.requests("BatchWriteItem")).hasSize(2);

    left.set(2);
    assertThatThrownBy(() -> aws.messageLog().add(tenant, Set.of(one), clock.instant()))
        .isInstanceOf(Unavailable.class)
        .hasMessageContaining("rows stayed unprocessed");
  }

  @Test
  void message_facts_are_read_and_extended_with_the_tenants_credentials() {
    List<SessionId> sessions = IntStream.range(0, 10).mapToObj(i -> Samples.sessionId()).toList();

    MessageName name = new MessageName(sessions.get(0), "m-1");
    aws.messageFactsReader().read(tenant, Set.copyOf(sessions), Set.of(name));
    Session read =
        new Session(tenant, sessions.get(0), Set.of(), clock.instant(), Optional.empty());
    aws.sessions().extend(read, clock.instant(), Map.of(), clock.instant());
    aws.messageLog().add(tenant, Set.of(name), clock.instant());

    assertThat(services.operations())
        .containsExactly("AssumeRole", "BatchGetItem", "UpdateItem", "BatchWriteItem");
    assertThat(services.requests("BatchWriteItem").get(0).body())
        .contains("LimitTable", "message:" + name.session() + ":m-1");
    assertThat(services.requests("BatchGetItem").get(0).body())
        .contains("\"ConsistentRead\":true", "TenantTable", "bucket:message")
        .contains(sessions.stream().map(SessionId::value).toList())
        .doesNotContain("bucket:connect");
    assertThat(
            List.of(
                services.requests("BatchGetItem").get(0),
                services.requests("UpdateItem").get(0),
                services.requests("BatchWriteItem").get(0)))
        .allSatisfy(
            request -> {
              assertThat(request.accessKey()).isEqualTo(tenant.value());
              assertThat(request.token()).contains("token of " + tenant);
            });
  }
}
