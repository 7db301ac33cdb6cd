package dev.tollgate.client;

import dev.tollgate.aws.config.ClaimPorts;
import dev.tollgate.aws.config.SdkClients;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Pause;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.CachedClaims;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.HeldTokens;
import dev.tollgate.core.bucket.claim.Prefetch;
import java.net.URI;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.http.SdkHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;
import software.amazon.awssdk.utils.SdkAutoCloseable;

/**
 * Builds a {@link TollgateClient}. The deployment is required: set it by {@link #environment}, or
 * by {@link #limitTable}, {@link #queueUrlPrefix}, {@link #tenantRole} and {@link #tokenProducer}.
 * All other settings have defaults. SDK clients, HTTP clients and credentials set here belong to
 * the caller: closing the {@link TollgateClient} leaves them open.
 *
 * <p>Not thread-safe.
 */
public final class TollgateClientBuilder {
  private static final String LIMIT_TABLE = "LIMIT_TABLE";
  private static final String QUEUE_URL_PREFIX = "QUEUE_URL_PREFIX";
  private static final String NAME_PREFIX = "NAME_PREFIX";
  private static final int DEFAULT_CACHED_TENANTS = 1_000;

  private static final String TENANT_ROLE_ARN = "TENANT_ROLE_ARN";
  private static final String TOKEN_PRODUCER_ARN = "TOKEN_PRODUCER_ARN";

  /** The most concurrent requests for large claims. */
  private static final int REQUESTS = 16;

  private final Map<String, String> variables = new HashMap<>();
  private int cachedTenants = DEFAULT_CACHED_TENANTS;
  private Optional<Region> region = Optional.empty();
  private Optional<AwsCredentialsProvider> credentials = Optional.empty();
  private Optional<SdkHttpClient> http = Optional.empty();
  private Optional<SqsClient> sqs = Optional.empty();
  private Optional<DynamoDbClient> dynamoDb = Optional.empty();
  private Optional<LambdaClient> lambda = Optional.empty();
  private Optional<StsClient> sts = Optional.empty();
  private InstantSource clock = InstantSource.system();
  private ClaimListener listener = new ClaimListener() {};
  private int prefetch;

  TollgateClientBuilder() {}

  /**
   * Reads these environment variables. The construct's {@code grantClaims} returns the first five,
   * and {@code ./tollgate up} writes all of them to {@code .tollgate/claims.env}.
   *
   * <ul>
   *   <li>{@code LIMIT_TABLE}: see {@link #limitTable}
   *   <li>{@code QUEUE_URL_PREFIX}: see {@link #queueUrlPrefix}
   *   <li>{@code NAME_PREFIX}: see {@link #prefix}
   *   <li>{@code TENANT_ROLE_ARN}: see {@link #tenantRole}
   *   <li>{@code TOKEN_PRODUCER_ARN}: see {@link #tokenProducer}
   *   <li>{@code AWS_REGION}, {@code AWS_ENDPOINT_URL}: the region and the endpoint. Default: the
   *       SDK's region, and AWS.
   *   <li>{@code AWS_ACCESS_KEY_ID}, {@code AWS_SECRET_ACCESS_KEY}, {@code AWS_SESSION_TOKEN}: the
   *       credentials. Default: the SDK's credentials.
   * </ul>
   */
  public TollgateClientBuilder environment(Map<String, String> environment) {
    variables.putAll(environment);
    return this;
  }

  /** The name of the deployment's Limit table. */
  public TollgateClientBuilder limitTable(String name) {
    variables.put(LIMIT_TABLE, name);
    return this;
  }

  /** The part of a queue's URL before its name: {@code https://sqs.<region>…/<account>/}. */
  public TollgateClientBuilder queueUrlPrefix(String url) {
    variables.put(QUEUE_URL_PREFIX, url);
    return this;
  }

  /** The deployment's prefix, such as {@code blue_}. Default: none. */
  public TollgateClientBuilder prefix(String prefix) {
    variables.put(NAME_PREFIX, prefix);
    return this;
  }

  /** The ARN of the role that claims assume for one tenant at a time. */
  public TollgateClientBuilder tenantRole(String arn) {
    variables.put(TENANT_ROLE_ARN, arn);
    return this;
  }

  /** The ARN of the function that fills buckets. */
  public TollgateClientBuilder tokenProducer(String arn) {
    variables.put(TOKEN_PRODUCER_ARN, arn);
    return this;
  }

  /**
   * How many tenants' credentials are cached, of some 2 KB each. Default: {@value
   * #DEFAULT_CACHED_TENANTS}. A claim of another tenant sends a request to STS, of which an account
   * may send some 600 a second.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public TollgateClientBuilder cachedTenants(int max) {
    if (max < 1) {
      throw new IllegalArgumentException("cachedTenants: " + max + " (expected: at least 1)");
    }
    cachedTenants = max;
    return this;
  }

  /** The region of SDK clients that are not set here. */
  public TollgateClientBuilder region(Region value) {
    region = Optional.of(value);
    return this;
  }

  /** The credentials of SDK clients that are not set here. */
  public TollgateClientBuilder credentials(AwsCredentialsProvider provider) {
    credentials = Optional.of(provider);
    return this;
  }

  /** The HTTP client of SDK clients that are not set here. Default: one based on the JDK's. */
  public TollgateClientBuilder httpClient(SdkHttpClient client) {
    http = Optional.of(client);
    return this;
  }

  /**
   * The client of SQS. It should not retry receives, because the tokens of a lost response are held
   * until their lease ends.
   */
  public TollgateClientBuilder sqs(SqsClient client) {
    sqs = Optional.of(client);
    return this;
  }

  /** The client of DynamoDB. */
  public TollgateClientBuilder dynamoDb(DynamoDbClient client) {
    dynamoDb = Optional.of(client);
    return this;
  }

  /** The client of Lambda, for fill requests. */
  public TollgateClientBuilder lambda(LambdaClient client) {
    lambda = Optional.of(client);
    return this;
  }

  /** The client of STS, which assumes the role for one tenant at a time. */
  public TollgateClientBuilder sts(StsClient client) {
    sts = Optional.of(client);
    return this;
  }

  /** The clock for leases, credentials and empty hints. Default: the system clock. */
  public TollgateClientBuilder clock(InstantSource source) {
    clock = source;
    return this;
  }

  /** The listener that receives the results of claims. Default: none. */
  public TollgateClientBuilder listener(ClaimListener claims) {
    listener = claims;
    return this;
  }

  /**
   * The most tokens of one bucket that this client takes in one request, for claims of one token
   * that follow at once. Meant for processes that live long; default: none. It applies to every
   * bucket of the client, since only buckets in heavy use get tokens ahead: those that are at least
   * half full, while nobody waits in their line.
   *
   * <p>Ten claims then cost two or three requests, and most take microseconds. Tokens are spent
   * before they are handed out, so a process that crashes admits nobody too many. Spent tokens that
   * no claim takes within two seconds are lost: fewer than {@code tokens} for each bucket, each
   * time that its claims stop. Tokens that are only held return to the bucket within two seconds,
   * and when the client is closed.
   *
   * <p>After a tenant is suspended, its prefetched tokens admit callers for three seconds at most:
   * the client uses a row for one second, and spent tokens for two. All that is admitted after the
   * suspension was in the bucket or prefetched before, because nothing fills the bucket.
   *
   * @param tokens 1 (no claim gets a token ahead) to 10
   * @throws IllegalArgumentException if the number is out of range
   */
  public TollgateClientBuilder prefetch(int tokens) {
    prefetch = (int) InvalidValue.inRange("prefetch", tokens, 1, TokenQueue.BATCH);
    return this;
  }

  /**
   * Opens the client. Sends no request.
   *
   * @throws IllegalStateException if a required setting is missing; the message names it
   * @throws IllegalArgumentException if a value is malformed
   */
  public TollgateClient build() {
    ClaimPorts.Deployment deployment = deployment();
    Opened opened = new Opened();
    try {
      ClaimPorts ports =
          new ClaimPorts(deployment, clients(opened), cachedTenants, opened.requests, clock);
      Buckets buckets = ports.buckets();
      TokenQueue queue = ports.tokenQueue();
      Claims claims =
          new Claims(buckets, queue, ports.fillRequests(), opened.requests, Pause.real(), clock);
      HeldTokens held = new HeldTokens(buckets, queue, clock);
      CachedClaims cached =
          new CachedClaims(
              ClaimsClient.reader(buckets::find),
              claims,
              prefetch(queue, held, opened),
              opened.requests,
              clock);
      return new ClaimsClient(cached, claims, clock, listener, List.copyOf(opened.closing));
    } catch (RuntimeException failure) {
      opened.closing.forEach(Runnable::run);
      throw failure;
    }
  }

  private Optional<Prefetch> prefetch(TokenQueue queue, HeldTokens held, Opened opened) {
    if (prefetch == 0) {
      return Optional.empty();
    }
    // A return waits for its batches, so it must not hold a thread that they need.
    ExecutorService returns = Threads.upTo(REQUESTS, "tollgate-returns");
    opened.closing.push(returns::shutdown);
    Prefetch.Timer timer =
        (time, work) ->
            CompletableFuture.delayedExecutor(time.toMillis(), TimeUnit.MILLISECONDS, returns)
                .execute(work);
    return Optional.of(new Prefetch(queue, held, prefetch, timer, clock));
  }

  private ClaimPorts.Deployment deployment() {
    List<String> missing =
        Stream.of(LIMIT_TABLE, QUEUE_URL_PREFIX, TENANT_ROLE_ARN, TOKEN_PRODUCER_ARN)
            .filter(name -> optional(name).isEmpty())
            .toList();
    if (!missing.isEmpty()) {
      throw new IllegalStateException(
          "Not set: "
              + String.join(", ", missing)
              + " (expected: the environment variables that grantClaims returns; those of"
              + " `tollgate up` are in .tollgate/claims.env)");
    }
    String urls = variable(QUEUE_URL_PREFIX);
    InvalidValue.unless(
        urls.matches("https?://.+/"), QUEUE_URL_PREFIX, urls, "a URL that ends with a slash");
    String prefix = optional(NAME_PREFIX).orElse("");
    InvalidValue.unless(
        prefix.matches("([a-z][a-z0-9]{0,7}_)?"), NAME_PREFIX, prefix, "[a-z][a-z0-9]{0,7}_");
    return new ClaimPorts.Deployment(
        variable(LIMIT_TABLE),
        urls,
        prefix,
        variable(TENANT_ROLE_ARN),
        variable(TOKEN_PRODUCER_ARN));
  }

  /** Returns the caller's clients, and opens those that are missing. */
  private ClaimPorts.Clients clients(Opened opened) {
    SdkClients sdk = sdkClients(opened);
    return new ClaimPorts.Clients(
        dynamoDb.orElseGet(() -> opened.add(sdk.repeating(DynamoDbClient.builder()).build())),
        sqs.orElseGet(() -> opened.add(sdk.repeating(SqsClient.builder()).build())),
        sqs.orElseGet(() -> opened.add(sdk.once(SqsClient.builder()).build())),
        lambda.orElseGet(() -> opened.add(sdk.once(LambdaClient.builder()).build())),
        sts.orElseGet(() -> opened.add(sdk.forRoles(StsClient.builder()).build())));
  }

  private SdkClients sdkClients(Opened opened) {
    ScheduledExecutorService timeouts = Threads.timer("tollgate-timeouts");
    opened.closing.push(timeouts::shutdown);
    return new SdkClients(
        new SdkClients.Access(
            region.or(() -> optional("AWS_REGION").map(Region::of)),
            credentials.orElseGet(() -> opened.add(SdkClients.credentials(variables))),
            optional("AWS_ENDPOINT_URL").map(URI::create)),
        http.orElseGet(() -> opened.add(SdkClients.newHttpClient())),
        timeouts);
  }

  private Optional<String> optional(String name) {
    return Optional.ofNullable(variables.get(name)).filter(value -> !value.isEmpty());
  }

  private String variable(String name) {
    return optional(name).orElseThrow();
  }

  /** The resources opened for a client, and the actions that close them, last opened first. */
  private static final class Opened {
    private final Deque<Runnable> closing = new ArrayDeque<>();
    private final ExecutorService requests = Threads.upTo(REQUESTS, "tollgate-requests");

    private Opened() {
      closing.push(requests::shutdown);
    }

    private <T> T add(T resource) {
      if (resource instanceof SdkAutoCloseable closeable) {
        closing.push(closeable::close);
      }
      return resource;
    }
  }
}
