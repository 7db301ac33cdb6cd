package dev.tollgate.aws.config;

import dev.tollgate.aws.credentials.DeniedSessions;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ScheduledExecutorService;
import java.util.stream.Stream;
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
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;

/**
 * Configures SDK clients: endpoint, credentials, time-outs and retries. All clients share one HTTP
 * client and one thread for time-outs; the SDK would otherwise start five threads for each client.
 * Closing an SDK client closes neither.
 *
 * <h2>Time-outs</h2>
 *
 * SQS responds in tens of milliseconds, with a tail of seconds, and DynamoDB responds faster. A
 * handshake waits for both.
 *
 * <ul>
 *   <li>A request that may be repeated is abandoned after two seconds and retried, for at most five
 *       seconds in all. A retry of a slow request is usually fast. The first request of a new
 *       instance needs most of a second, because the TLS handshake runs on a fraction of a
 *       processor.
 *   <li>A request that must not be repeated has one attempt of four seconds, which is enough for a
 *       long poll of one second.
 *   <li>A request that no handshake waits for (queues, schedules, functions) may take five seconds
 *       an attempt and twelve seconds in all.
 * </ul>
 *
 * <p>In sequence these limits add up to 20 seconds in the authorizer, which may send two requests
 * to a bucket; to 24 if it also wakes the bucket; and to 19 in {@code $connect}. Of these, two are
 * for reading and writing shared credentials. Recording a refusal adds half a second. All sums are
 * below the function time-out of 25 seconds and the 29 seconds that API Gateway waits.
 *
 * <p>Mode, attempts and delays of retries are set here, so that neither {@code AWS_RETRY_MODE} nor
 * new defaults of the SDK change them.
 *
 * <p>A request is not repeated where a second execution would change the result: a receive whose
 * response was lost holds tokens, and a send, an increment or a frame may have taken effect.
 */
public final class SdkClients {
  private static final Duration CONNECT = Duration.ofSeconds(1);
  private static final Duration ATTEMPT = Duration.ofSeconds(2);
  private static final Duration CALL = Duration.ofSeconds(5);
  private static final int ATTEMPTS = 3;
  private static final Duration RETRY = Duration.ofMillis(100);
  private static final Duration THROTTLED_RETRY = Duration.ofSeconds(1);
  private static final Duration LONGEST_RETRY = Duration.ofSeconds(20);
  private static final Duration ONLY_ATTEMPT = Duration.ofSeconds(4);
  private static final Duration BRIEF = Duration.ofSeconds(1);
  private static final Duration BACKGROUND_ATTEMPT = Duration.ofSeconds(5);
  private static final Duration BACKGROUND_CALL = Duration.ofSeconds(12);

  /** Enough for a new TLS connection to STS on a small processor. */
  private static final Duration STS_ATTEMPT = Duration.ofSeconds(2);

  /** A fallback: the SDK's own time-outs are shorter. */
  private static final Duration SOCKET = BACKGROUND_ATTEMPT.plusSeconds(1);

  /** Longer than API Gateway waits for the functions behind it. */
  private static final Duration APPLICATION_SOCKET = Duration.ofSeconds(30);

  private final Access access;
  private final SdkHttpClient http;
  private final ScheduledExecutorService timeouts;
  private final List<ExecutionInterceptor> interceptors;

  /**
   * Region, credentials and endpoint of requests.
   *
   * @param region empty to use the SDK's default region
   * @param endpoint the endpoint of all services; empty for AWS
   */
  public record Access(
      Optional<Region> region, AwsCredentialsProvider credentials, Optional<URI> endpoint) {}

  /**
   * Clients that share this HTTP client.
   *
   * @param timeouts aborts requests that exceed their time-out
   */
  public SdkClients(Access access, SdkHttpClient http, ScheduledExecutorService timeouts) {
    this(access, http, timeouts, List.of());
  }

  /** Clients that share this HTTP client, and whose requests these interceptors observe. */
  SdkClients(
      Access access,
      SdkHttpClient http,
      ScheduledExecutorService timeouts,
      List<ExecutionInterceptor> interceptors) {
    this.access = access;
    this.http = http;
    this.timeouts = timeouts;
    this.interceptors =
        Stream.concat(interceptors.stream(), Stream.of(new DeniedSessions())).toList();
  }

  /**
   * An HTTP client over the JDK's {@code HttpURLConnection}. It keeps up to {@code
   * http.maxConnections} (a system property, 5 by default) idle connections to a host.
   *
   * @see <a
   *     href="https://docs.oracle.com/en/java/javase/17/docs/api/java.base/java/net/doc-files/net-properties.html">Networking
   *     Properties</a>
   */
  public static SdkHttpClient newHttpClient() {
    return newHttpClient(SOCKET);
  }

  private static SdkHttpClient newHttpClient(Duration socket) {
    return new JdkHttpClient(
        UrlConnectionHttpClient.builder().connectionTimeout(CONNECT).socketTimeout(socket).build());
  }

  /**
   * The credentials in environment variables, or else the SDK's default credentials. A function
   * that is restored from a snapshot gets its credentials from an endpoint and not from variables.
   *
   * @throws MissingVariable if there is an access key id without a secret
   */
  public static AwsCredentialsProvider credentials(Map<String, String> environment) {
    String id = environment.getOrDefault("AWS_ACCESS_KEY_ID", "");
    if (id.isEmpty()) {
      return DefaultCredentialsProvider.builder().build();
    }
    String secret = environment.getOrDefault("AWS_SECRET_ACCESS_KEY", "");
    if (secret.isEmpty()) {
      throw new MissingVariable("AWS_SECRET_ACCESS_KEY");
    }
    String token = environment.getOrDefault("AWS_SESSION_TOKEN", "");
    AwsCredentials keys =
        token.isEmpty()
            ? AwsBasicCredentials.create(id, secret)
            : AwsSessionCredentials.create(id, secret, token);
    return StaticCredentialsProvider.create(keys);
  }

  /** Configures a client that retries requests, for at most five seconds. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B repeating(B builder) {
    return configured(builder, repeating(ATTEMPT, CALL));
  }

  /** Configures a client that never repeats a request. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B once(B builder) {
    return configured(builder, waiting(ONLY_ATTEMPT, ONLY_ATTEMPT, AwsRetryStrategy.doNotRetry()));
  }

  /**
   * Configures a client that never repeats a request, and whose requests each set how long they
   * wait, up to 30 seconds.
   */
  <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B forApplications(B builder) {
    return once(builder).httpClient(newHttpClient(APPLICATION_SOCKET));
  }

  /**
   * Configures a client for requests that have one attempt of a second, because there is another
   * way if they fail.
   */
  <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B brief(B builder) {
    return configured(builder, waiting(BRIEF, BRIEF, AwsRetryStrategy.doNotRetry()));
  }

  /** Configures a client of STS, which retries requests. */
  public <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B forRoles(B builder) {
    return configured(builder, repeating(STS_ATTEMPT, STS_ATTEMPT.multipliedBy(2)));
  }

  /** Configures a client that retries requests and that no handshake waits for. */
  <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B background(B builder) {
    return configured(builder, repeating(BACKGROUND_ATTEMPT, BACKGROUND_CALL));
  }

  /**
   * Configures a client whose attempts together take no longer than one attempt of {@link
   * #repeating}, with this retry strategy.
   */
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
        AwsRetryStrategy.standardRetryStrategy().toBuilder()
            .maxAttempts(ATTEMPTS)
            .backoffStrategy(BackoffStrategy.exponentialDelay(RETRY, LONGEST_RETRY))
            .throttlingBackoffStrategy(
                BackoffStrategy.exponentialDelay(THROTTLED_RETRY, LONGEST_RETRY))
            .build();
    return waiting(attempt, call, strategy);
  }

  private ClientOverrideConfiguration waiting(
      Duration attempt, Duration call, RetryStrategy strategy) {
    return ClientOverrideConfiguration.builder()
        .executionInterceptors(interceptors)
        .apiCallAttemptTimeout(attempt)
        .apiCallTimeout(call)
        .retryStrategy(strategy)
        .scheduledExecutorService(timeouts)
        .build();
  }
}
