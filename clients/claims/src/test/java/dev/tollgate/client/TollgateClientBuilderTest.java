package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.ExecutableHttpRequest;
import software.amazon.awssdk.http.HttpExecuteRequest;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/** The configuration of clients, and the resources that they open and close. */
class TollgateClientBuilderTest {
  private final ScriptedAws aws = new ScriptedAws();

  @AfterEach
  void stop() {
    aws.close();
  }

  private TollgateClientBuilder builder() {
    return TollgateClient.builder().environment(aws.environment());
  }

  private static void assertThatNoTenantIsKnown(TollgateClient tollgate) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> tollgate.bucket("acme", "send-email").tryClaim())
        .isInstanceOf(UnknownBucket.class);
  }

  // Configuration

  @ParameterizedTest
  @ValueSource(
      strings = {"LIMIT_TABLE", "QUEUE_URL_PREFIX", "TENANT_ROLE_ARN", "TOKEN_PRODUCER_ARN"})
  void missing_variable_is_named(String name) {
    for (String nothing : List.of("", "absent")) {
      Map<String, String> environment = new HashMap<>(aws.environment());
      if (nothing.isEmpty()) {
        environment.put(name, "");
      } else {
        environment.remove(name);
      }
      assertThatIllegalStateException()
          .isThrownBy(() -> TollgateClient.builder().environment(environment).build())
          .withMessageStartingWith("Not set: " + name + " (expected: ");
    }
  }

  @Test
  void all_missing_variables_are_named() {
    assertThatIllegalStateException()
        .isThrownBy(TollgateClient::fromEnvironment)
        .withMessageStartingWith(
            "Not set: LIMIT_TABLE, QUEUE_URL_PREFIX, TENANT_ROLE_ARN, TOKEN_PRODUCER_ARN (");
  }

  @ParameterizedTest
  @CsvSource({
    "QUEUE_URL_PREFIX, sqs.example/, 'QUEUE_URL_PREFIX: sqs.example/ (expected: a URL'",
    "QUEUE_URL_PREFIX, https://sqs.example, 'QUEUE_URL_PREFIX: https://sqs.example (expected: '",
    "NAME_PREFIX, Blue, 'NAME_PREFIX: Blue (expected: [a-z][a-z0-9]{0,7}_)'"
  })
  void malformed_variable_is_rejected(String name, String value, String message) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> builder().environment(Map.of(name, value)).build())
        .withMessageStartingWith(message);
  }

  @Test
  void access_key_without_a_secret_is_rejected() {
    assertThatIllegalStateException()
        .isThrownBy(() -> builder().environment(Map.of("AWS_SECRET_ACCESS_KEY", "")).build())
        .withMessageContaining("AWS_SECRET_ACCESS_KEY");
  }

  @Test
  void settings_replace_environment_variables() {
    Map<String, String> variables = aws.environment();
    try (TollgateClient tollgate =
        TollgateClient.builder()
            .limitTable(variables.getOrDefault("LIMIT_TABLE", ""))
            .queueUrlPrefix(variables.getOrDefault("QUEUE_URL_PREFIX", ""))
            .prefix("blue_")
            .tenantRole(variables.getOrDefault("TENANT_ROLE_ARN", ""))
            .tokenProducer(variables.getOrDefault("TOKEN_PRODUCER_ARN", ""))
            .environment(Map.of("AWS_ENDPOINT_URL", variables.getOrDefault("AWS_ENDPOINT_URL", "")))
            .region(Region.EU_CENTRAL_1)
            .credentials(
                StaticCredentialsProvider.create(AwsBasicCredentials.create("mine", "secret")))
            .build()) {
      assertThatNoTenantIsKnown(tollgate);
    }
    // Receives and reads the bucket's row, then reads the row of the tenant's connect bucket.
    assertThat(aws.operations())
        .containsExactlyInAnyOrder("AssumeRole", "ReceiveMessage", "GetItem", "GetItem");
  }

  @Test
  void numbers_beyond_every_bucket_cost_no_request() {
    try (TollgateClient tollgate = builder().build()) {
      TokenBucket bucket = tollgate.bucket("acme", "send-email");
      assertThatIllegalArgumentException().isThrownBy(() -> bucket.tryClaim(0));
      assertThatIllegalArgumentException().isThrownBy(() -> bucket.tryClaim(10_001));
      assertThatIllegalArgumentException().isThrownBy(() -> bucket.claimUpTo(-1));
    }
    assertThat(aws.operations()).isEmpty();
  }

  @Test
  void claims_are_undecided_while_aws_fails() {
    aws.on("GetItem", () -> "not json");
    AtomicInteger undecided = new AtomicInteger();
    ClaimListener listener =
        new ClaimListener() {
          @Override
          public void undecided(Call call, String cause) {
            undecided.incrementAndGet();
          }
        };
    try (TollgateClient tollgate = builder().listener(listener).build()) {
      TokenBucket bucket = tollgate.bucket("acme", "send-email");
      assertThat(bucket.tryClaim())
          .isInstanceOfSatisfying(
              Claim.Undecided.class,
              answer -> assertThat(answer.cause()).contains("GetItem", "send-email_acme"));
      assertThat(bucket.reserve(2)).isInstanceOf(Claim.Undecided.class);
      assertThat(bucket.claimUpTo(2).shortfall()).containsInstanceOf(Claim.Undecided.class);
    }
    assertThat(undecided).hasValue(3);
  }

  /** An application that admits when a claim is undecided must not do so while STS throttles. */
  @Test
  void claims_are_denied_while_there_are_no_credentials() {
    aws.on("AssumeRole", () -> "not xml");
    List<String> causes = new ArrayList<>();
    ClaimListener listener =
        new ClaimListener() {
          @Override
          public void undecided(Call call, String cause) {
            causes.add(cause);
          }
        };
    Instant now = Instant.parse("2026-03-01T12:00:00Z");
    Claim.Denied denied = new Claim.Denied(now.plusSeconds(1));
    try (TollgateClient tollgate =
        builder().listener(listener).clock(InstantSource.fixed(now)).build()) {
      TokenBucket bucket = tollgate.bucket("acme", "send-email");
      assertThat(bucket.tryClaim()).isEqualTo(denied);
      assertThat(bucket.claimInLine()).isEqualTo(denied);
      assertThat(bucket.reserve(2)).isEqualTo(denied);
      assertThat(bucket.claimUpTo(2).shortfall()).contains(denied);
    }
    assertThat(causes).hasSize(4).allMatch(cause -> cause.contains("STS AssumeRole for acme"));
  }

  // Opened and closed resources

  @Test
  void given_http_client_is_used_and_stays_open() {
    CountingHttp http = new CountingHttp();
    try (TollgateClient tollgate = builder().httpClient(http).build()) {
      assertThatNoTenantIsKnown(tollgate);
    }
    assertThat(http.requests).hasValue(4);
    assertThat(http.closed).hasValue(0);
  }

  @Test
  void given_sdk_clients_are_used_and_stay_open() {
    CountingHttp http = new CountingHttp();
    var endpoint = URI.create(aws.environment().getOrDefault("AWS_ENDPOINT_URL", ""));
    var keys = StaticCredentialsProvider.create(AwsBasicCredentials.create("mine", "secret"));
    SqsClient sqs =
        SqsClient.builder()
            .httpClient(http)
            .region(Region.EU_CENTRAL_1)
            .endpointOverride(endpoint)
            .credentialsProvider(keys)
            .build();
    DynamoDbClient dynamoDb =
        DynamoDbClient.builder()
            .httpClient(http)
            .region(Region.EU_CENTRAL_1)
            .endpointOverride(endpoint)
            .credentialsProvider(keys)
            .build();
    LambdaClient lambda =
        LambdaClient.builder()
            .httpClient(http)
            .region(Region.EU_CENTRAL_1)
            .endpointOverride(endpoint)
            .credentialsProvider(keys)
            .build();
    StsClient sts =
        StsClient.builder()
            .httpClient(http)
            .region(Region.EU_CENTRAL_1)
            .endpointOverride(endpoint)
            .credentialsProvider(keys)
            .build();
    // No other address answers.
    try (TollgateClient tollgate =
        builder()
            .environment(Map.of("AWS_ENDPOINT_URL", "http://127.0.0.1:9"))
            .sqs(sqs)
            .dynamoDb(dynamoDb)
            .lambda(lambda)
            .sts(sts)
            .build()) {
      assertThatNoTenantIsKnown(tollgate);
    }
    dynamoDb.getItem(request -> request.tableName("Limits").key(Map.of()));
    sqs.receiveMessage(request -> request.queueUrl(endpoint + "/000000000000/queue"));
    assertThat(http.requests).hasValue(6);
    assertThat(http.closed).hasValue(0);
  }

  @Test
  void close_waits_for_claims_in_progress() throws Exception {
    CountDownLatch asked = new CountDownLatch(1);
    CountDownLatch answered = new CountDownLatch(1);
    aws.on(
        "GetItem",
        () -> {
          asked.countDown();
          try {
            answered.await();
          } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
          }
          return "{}";
        });
    TollgateClient tollgate = builder().build();
    var claim = tollgate.bucket("acme", "send-email").tryClaimAsync().toCompletableFuture();
    asked.await();
    ExecutorService closer = Executors.newSingleThreadExecutor();
    try {
      Future<?> closing = closer.submit(tollgate::close);
      boolean waits = false;
      try {
        closing.get(100, TimeUnit.MILLISECONDS);
      } catch (TimeoutException expected) {
        waits = true;
      }
      answered.countDown();
      closing.get(10, TimeUnit.SECONDS);
      assertThat(waits).isTrue();
    } finally {
      closer.shutdownNow();
    }
    assertThat(claim)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableOfType(ExecutionException.class)
        .withCauseInstanceOf(UnknownBucket.class);
  }

  @Test
  void client_leaves_no_threads_or_properties_behind() {
    Properties before = (Properties) System.getProperties().clone();
    try (TollgateClient tollgate = builder().build()) {
      assertThatNoTenantIsKnown(tollgate);
      assertThat(tollgate.bucket("acme", "send-email").tryClaimAsync())
          .failsWithin(Duration.ofSeconds(10));
      assertThat(ownThreads()).isNotEmpty().allMatch(Thread::isDaemon);
    }
    assertThat(System.getProperties())
        .isEqualTo(before)
        // An earlier test may have set it.
        .doesNotContainKey("http.maxConnections");
    ownThreads().forEach(TollgateClientBuilderTest::join);
    assertThat(ownThreads()).isEmpty();
  }

  private static List<Thread> ownThreads() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(thread -> thread.getName().startsWith("tollgate-"))
        .toList();
  }

  private static void join(Thread thread) {
    try {
      thread.join(5_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** An HTTP client that counts its requests and closes. */
  private static final class CountingHttp implements SdkHttpClient {
    private final SdkHttpClient http = UrlConnectionHttpClient.create();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger closed = new AtomicInteger();

    @Override
    public ExecutableHttpRequest prepareRequest(HttpExecuteRequest request) {
      if (request
          .httpRequest()
          .firstMatchingHeader(ScriptedAws.ATTEMPT)
          .filter(ScriptedAws::isFirstAttempt)
          .isPresent()) {
        requests.incrementAndGet();
      }
      return http.prepareRequest(request);
    }

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }
}
