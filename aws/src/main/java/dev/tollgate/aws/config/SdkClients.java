package dev.tollgate.aws.config;

import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.client.config.ClientOverrideConfiguration;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.RetryStrategy;

/**
 * Configures SDK clients: where they send requests, as whom, and how long they wait. All of them
 * share one HTTP client and one thread for time-outs, of which the SDK would otherwise start five
 * for each client. Closing an SDK client closes neither.
 *
 * <h2>How long to wait</h2>
 *
 * SQS answers in tens of milliseconds, with a tail of seconds; DynamoDB in less. A handshake waits
 * for both. Therefore a request that may be repeated is given up after two seconds and tried again,
 * for no longer than five seconds in all: a request that was slow once is seldom slow again. The
 * first request of an instance, with its key exchange on a fraction of a processor, needs most of a
 * second by itself. A request that must not be repeated has one attempt of four seconds, which a
 * long poll of one second fits in. One after another these add up to 18 seconds in the authorizer,
 * which may ask a bucket twice, to 22 if it must wake it too, and to 17 in {@code $connect}, and
 * half a second more for a refusal that is written down, below the 25 that the functions have and
 * the 29 that API Gateway waits. Where nobody waits at a handshake (queues, schedules) an attempt
 * may last five seconds.
 *
 * <p>Repeating is left out where it would change the outcome: a receive whose answer was lost holds
 * tokens, a send may have made them, a count may have counted, a frame may have been sent.
 */
public final class SdkClients {
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration ATTEMPT = Duration.ofSeconds(2);
  private static final Duration CALL = Duration.ofSeconds(5);
  private static final int ATTEMPTS = 3;
  private static final Duration ONLY_ATTEMPT = Duration.ofSeconds(4);
  private static final Duration UNHURRIED_ATTEMPT = Duration.ofSeconds(5);
  private static final Duration UNHURRIED_CALL = Duration.ofSeconds(12);

  /** A new connection to STS, with its key exchange, on a small processor. */
  private static final Duration STS_ATTEMPT = Duration.ofSeconds(2);

  /** The last resort: the SDK gives up before a socket does. */
  private static final Duration SOCKET = UNHURRIED_ATTEMPT.plusSeconds(1);

  private final Access access;
  private final SdkHttpClient http;
  private final ScheduledExecutorService timeouts;

  /**
   * Where requests are sent, and as whom.
   *
   * @param region empty for the one that the SDK finds
   * @param endpoint where all services answer; empty for AWS
   */
  public record Access(
      Optional<Region> region, AwsCredentialsProvider credentials, Optional<URI> endpoint) {}

  /**
   * Clients that share an HTTP client and a thread.
   *
   * @param timeouts ends requests that take too long
   */
  public SdkClients(Access access, SdkHttpClient http, ScheduledExecutorService timeouts) {
    this.access = access;
    this.http = http;
    this.timeouts = timeouts;
  }

  /**
   * The JDK's own HTTP client. It keeps as many idle connections to a host as the system property
   * {@code http.maxConnections} says, 5 by default.
   *
   * @see <a
   *     href="https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/doc-files/net-properties.html">Networking
   *     Properties</a>
   */
  public static SdkHttpClient newHttpClient() {
    return UrlConnectionHttpClient.builder()
        .connectionTimeout(CONNECT)
        .socketTimeout(SOCKET)
        .build();
  }

  /**
   * The keys that an environment holds; without any, those that the SDK finds: a function that is
   * restored from a snapshot gets its keys from an endpoint and not from variables.
   *
   * @throws IllegalStateException if there is an id and no key
   */
  public static AwsCredentialsProvider credentials(Map<String, String> environment) {
    String id = environment.getOrDefault("AWS_ACCESS_KEY_ID", "");
    if (id.isEmpty()) {
      return DefaultCredentialsProvider.builder().build();
    }
    String secret = environment.getOrDefault("AWS_SECRET_ACCESS_KEY", "");
    if (secret.isEmpty()) {
      throw new AwsEnvironment.MissingVariable("AWS_SECRET_ACCESS_KEY");
    }
    String token = environment.getOrDefault("AWS_SESSION_TOKEN", "");
    AwsCredentials keys =
        token.isEmpty()
            ? AwsBasicCredentials.create(id, secret)
            : AwsSessionCredentials.create(id, secret, token);
    return StaticCredentialsProvider.create(keys);
  }

  /** Configures a client that repeats requests, for five seconds at most. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B repeating(B builder) {
    return configured(builder, repeating(ATTEMPT, CALL));
  }

  /** Configures a client that sends no request twice. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B once(B builder) {
    return configured(builder, waiting(ONLY_ATTEMPT, ONLY_ATTEMPT, AwsRetryStrategy.doNotRetry()));
  }

  /** Configures a client of STS. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B forRoles(B builder) {
    return configured(builder, repeating(STS_ATTEMPT, STS_ATTEMPT.multipliedBy(2)));
  }

  /** Configures a client that repeats requests and that no handshake waits for. */
  <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B unhurried(B builder) {
    return configured(builder, repeating(UNHURRIED_ATTEMPT, UNHURRIED_CALL));
  }

  /** Configures a client that has the time of one attempt in all, with retries of its own. */
  <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B withinOneAttempt(
      B builder, RetryStrategy.Builder<?, ?> retries) {
    return configured(builder, waiting(ATTEMPT, ATTEMPT, retries.maxAttempts(ATTEMPTS).build()));
  }

  private <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B configured(
      B builder, ClientOverrideConfiguration configuration) {
    builder
        .credentialsProvider(access.credentials())
        .httpClient(http)
        .overrideConfiguration(configuration);
    access.region().ifPresent(builder::region);
    access.endpoint().ifPresent(builder::endpointOverride);
    return builder;
  }

  private ClientOverrideConfiguration repeating(Duration attempt, Duration call) {
    RetryStrategy strategy =
        AwsRetryStrategy.standardRetryStrategy().toBuilder().maxAttempts(ATTEMPTS).build();
    return waiting(attempt, call, strategy);
  }

  private ClientOverrideConfiguration waiting(
      Duration attempt, Duration call, RetryStrategy strategy) {
    return ClientOverrideConfiguration.builder()
        .apiCallAttemptTimeout(attempt)
        .apiCallTimeout(call)
        .retryStrategy(strategy)
        .scheduledExecutorService(timeouts)
        .build();
  }
}
