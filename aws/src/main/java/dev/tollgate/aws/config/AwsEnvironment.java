package dev.tollgate.aws.config;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.ResourceNames;
import dev.tollgate.aws.credentials.AssumedRoles;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.DynamoDbIdempotencyKeys;
import dev.tollgate.aws.dynamodb.limit.DynamoDbActivity;
import dev.tollgate.aws.dynamodb.limit.DynamoDbBuckets;
import dev.tollgate.aws.dynamodb.limit.DynamoDbConnections;
import dev.tollgate.aws.dynamodb.limit.DynamoDbFactsReader;
import dev.tollgate.aws.dynamodb.limit.DynamoDbLiveTenants;
import dev.tollgate.aws.dynamodb.limit.DynamoDbMessageLog;
import dev.tollgate.aws.dynamodb.limit.DynamoDbSessions;
import dev.tollgate.aws.dynamodb.limit.DynamoDbSilos;
import dev.tollgate.aws.dynamodb.limit.SessionTables;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTenants;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTiers;
import dev.tollgate.aws.gateway.ApiGatewaySockets;
import dev.tollgate.aws.lambda.LambdaFillRequests;
import dev.tollgate.aws.lambda.LambdaSiloFunctions;
import dev.tollgate.aws.scheduler.EventBridgeFillSchedules;
import dev.tollgate.aws.sqs.QueueUrls;
import dev.tollgate.aws.sqs.SqsBucketQueues;
import dev.tollgate.aws.sqs.SqsSiloQueues;
import dev.tollgate.aws.sqs.SqsTokenQueue;
import dev.tollgate.core.Threads;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tiers;
import java.net.URI;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.LimitExceededException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * The AWS side of a deployable: the ports of core, made from its environment variables.
 *
 * <p>Nothing is made, and no variable is missed, before it is asked for. All tenants share one
 * client of a service; a tenant's credentials go with each request.
 */
public final class AwsEnvironment {
  /** Batches of one large request that are under way at once. */
  private static final int PARALLEL_BATCHES = 8;

  private static final int TENANTS_KEPT = 1_000;

  private final Map<String, String> environment;
  private final InstantSource clock;

  private final Lazy<SdkClients> clients = new Lazy<>(this::newClients);
  private final Lazy<DynamoDbClient> dynamoDb =
      new Lazy<>(() -> clients.get().repeating(DynamoDbClient.builder()).build());
  private final Lazy<DynamoDbClient> dynamoDbOnce =
      new Lazy<>(() -> clients.get().once(DynamoDbClient.builder()).build());
  private final Lazy<SqsClient> sqs =
      new Lazy<>(() -> clients.get().repeating(SqsClient.builder()).build());
  private final Lazy<SqsClient> sqsOnce =
      new Lazy<>(() -> clients.get().once(SqsClient.builder()).build());
  private final Lazy<SqsClient> sqsUnhurried =
      new Lazy<>(() -> clients.get().unhurried(SqsClient.builder()).build());
  private final Lazy<SchedulerClient> scheduler =
      new Lazy<>(() -> clients.get().unhurried(SchedulerClient.builder()).build());
  private final Lazy<LambdaClient> lambda =
      new Lazy<>(() -> clients.get().unhurried(LambdaClient.builder()).build());
  private final Lazy<LambdaClient> lambdaOnce =
      new Lazy<>(() -> clients.get().once(LambdaClient.builder()).build());
  private final Lazy<TenantCredentials> tenantCredentials = new Lazy<>(this::assumedRoles);
  private final Lazy<Executor> batches =
      new Lazy<>(() -> Threads.upTo(PARALLEL_BATCHES, "sqs-batch"));
  private final Lazy<SessionTables> sessionTables = new Lazy<>(this::newSessionTables);

  /**
   * The AWS side of a deployable with these environment variables.
   *
   * @param clock judges credentials, leases and what is remembered
   */
  public AwsEnvironment(Map<String, String> environment, InstantSource clock) {
    this.environment = Map.copyOf(environment);
    this.clock = clock;
  }

  /**
   * Tokens in SQS queues. Needs {@code QUEUE_URL_PREFIX} and {@code TENANT_ROLE_ARN}.
   *
   * @throws MissingVariable if one of them is not set; so do all the other methods
   */
  public TokenQueue tokenQueue() {
    return new SqsTokenQueue(
        sqs.get(), sqsOnce.get(), queueUrls(), tenantCredentials.get(), batches.get(), clock);
  }

  /**
   * The queues of buckets. Needs {@code QUEUE_URL_PREFIX} and {@code TENANT_ROLE_ARN}; to make
   * them, or to tell who did, {@code DEPLOYMENT} too.
   */
  public BucketQueues bucketQueues() {
    return new SqsBucketQueues(
        sqsUnhurried.get(), queueUrls(), tenantCredentials.get(), () -> variable("DEPLOYMENT"));
  }

  /**
   * The schedules that fill buckets. Needs {@code SCHEDULE_GROUP}, {@code TOKEN_PRODUCER_ARN},
   * {@code SCHEDULE_ROLE_ARN}, {@code SCHEDULE_DEAD_LETTER_ARN}, {@code QUEUE_URL_PREFIX} and
   * {@code TENANT_ROLE_ARN}.
   */
  public FillSchedules fillSchedules() {
    return fillSchedules(variable("TOKEN_PRODUCER_ARN"));
  }

  /**
   * The same for the function that schedules invoke: it cannot be told its own ARN when it is made,
   * but each invocation tells it. Needs no {@code TOKEN_PRODUCER_ARN}.
   */
  public FillSchedules fillSchedules(String tokenProducerArn) {
    return new EventBridgeFillSchedules(
        scheduler.get(),
        queueUrls(),
        tenantCredentials.get(),
        new EventBridgeFillSchedules.Destination(
            variable("SCHEDULE_GROUP"),
            tokenProducerArn,
            variable("SCHEDULE_ROLE_ARN"),
            variable("SCHEDULE_DEAD_LETTER_ARN")));
  }

  /**
   * The queues of silos. Needs {@code QUEUE_URL_PREFIX}, {@code PROCESSOR_FUNCTION_ARN}, {@code
   * POOL_DEAD_LETTER_URL} and {@code TENANT_ROLE_ARN}.
   */
  public SiloQueues siloQueues() {
    return new SqsSiloQueues(
        sqsUnhurried.get(),
        queueUrls(),
        arns(),
        variable("POOL_DEAD_LETTER_URL"),
        tenantCredentials.get());
  }

  /**
   * The functions of silos. Needs {@code PROCESSOR_FUNCTION_ARN}, {@code PROCESSOR_CODE_BUCKET},
   * {@code PROCESSOR_CODE_KEY} and {@code TENANT_ROLE_ARN}.
   */
  public SiloFunctions siloFunctions() {
    return new LambdaSiloFunctions(
        lambda.get(),
        names(),
        arns(),
        new LambdaSiloFunctions.Code(
            variable("PROCESSOR_CODE_BUCKET"), variable("PROCESSOR_CODE_KEY")),
        tenantCredentials.get());
  }

  /** Silos in the Limit table. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Silos silos() {
    return new DynamoDbSilos(dynamoDb.get(), variable("LIMIT_TABLE"), tenantCredentials.get());
  }

  /** What silos' functions are brought to. Needs {@code PROCESSOR_FUNCTION_ARN}. */
  public Release release() {
    return new Release(variable("PROCESSOR_FUNCTION_ARN"));
  }

  /** Buckets in the Limit table. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Buckets buckets() {
    return new DynamoDbBuckets(dynamoDb.get(), variable("LIMIT_TABLE"), tenantCredentials.get());
  }

  /** The log of messages. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public MessageLog messageLog() {
    return new DynamoDbMessageLog(dynamoDb.get(), variable("LIMIT_TABLE"), tenantCredentials.get());
  }

  /** What tenants' connections came to. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Activity activity() {
    return new DynamoDbActivity(
        dynamoDb.get(), dynamoDbOnce.get(), variable("LIMIT_TABLE"), tenantCredentials.get());
  }

  /** Requests for fills, under the function's own role. Needs {@code TOKEN_PRODUCER_ARN}. */
  public FillRequests fillRequests() {
    return new LambdaFillRequests(lambdaOnce.get(), variable("TOKEN_PRODUCER_ARN"));
  }

  /** Tenants, under the function's own role. Needs {@code TENANT_TABLE}. */
  public Tenants tenants() {
    return new DynamoDbTenants(dynamoDb.get(), variable("TENANT_TABLE"));
  }

  /** Tiers, under the function's own role. Needs {@code TIER_TABLE}. */
  public Tiers tiers() {
    return new DynamoDbTiers(dynamoDb.get(), variable("TIER_TABLE"));
  }

  /** Idempotency keys, under the function's own role. Needs {@code IDEMPOTENCY_TABLE}. */
  public IdempotencyKeys idempotencyKeys() {
    return new DynamoDbIdempotencyKeys(dynamoDb.get(), variable("IDEMPOTENCY_TABLE"));
  }

  /** Sessions. Needs {@code SESSION_TABLE}, {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Sessions sessions() {
    return new DynamoDbSessions(sessionTables.get());
  }

  /** Connections. Needs {@code SESSION_TABLE}, {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Connections connections() {
    return new DynamoDbConnections(sessionTables.get());
  }

  /**
   * The tenants that may have sessions; which they are, under the function's own role. Needs {@code
   * SESSION_TABLE}, {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}.
   */
  public LiveTenants liveTenants() {
    return new DynamoDbLiveTenants(sessionTables.get());
  }

  /**
   * What an admission is decided on. Needs {@code TENANT_TABLE}, {@code SESSION_TABLE}, {@code
   * LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. Remembers answers: ask for it once.
   */
  public AdmissionFactsReader factsReader() {
    return newFactsReader();
  }

  /** What the processing of messages is decided on. Needs the same as {@link #factsReader}. */
  public MessageFactsReader messageFactsReader() {
    return newFactsReader();
  }

  private DynamoDbFactsReader newFactsReader() {
    return new DynamoDbFactsReader(
        dynamoDb.get(),
        new DynamoDbFactsReader.Tables(
            variable("TENANT_TABLE"), variable("SESSION_TABLE"), variable("LIMIT_TABLE")),
        tenantCredentials.get(),
        clock);
  }

  /** The sockets of the WebSocket API. Needs {@code WEBSOCKET_URL}. */
  public Sockets sockets() {
    URI endpoint = URI.create(variable("WEBSOCKET_URL").replaceFirst("^ws", "http"));
    return new ApiGatewaySockets(
        clients
            .get()
            .repeating(ApiGatewayManagementApiClient.builder())
            .endpointOverride(endpoint)
            .build(),
        clients
            .get()
            .withinOneAttempt(ApiGatewayManagementApiClient.builder(), posting())
            .endpointOverride(endpoint)
            .build());
  }

  private SessionTables newSessionTables() {
    return new SessionTables(
        dynamoDb.get(),
        dynamoDbOnce.get(),
        variable("SESSION_TABLE"),
        variable("LIMIT_TABLE"),
        tenantCredentials.get());
  }

  private TenantCredentials assumedRoles() {
    String role = variable("TENANT_ROLE_ARN");
    StsClient sts = clients.get().forRoles(StsClient.builder()).build();
    return new AssumedRoles(sts, role, TENANTS_KEPT, clock);
  }

  private QueueUrls queueUrls() {
    return new QueueUrls(variable("QUEUE_URL_PREFIX"), names());
  }

  private Arns arns() {
    return Arns.beside(variable("PROCESSOR_FUNCTION_ARN"));
  }

  private ResourceNames names() {
    return new ResourceNames(environment.getOrDefault("NAME_PREFIX", ""));
  }

  /**
   * Clients for a process that is a function's own: the JDK keeps idle connections for all batches
   * of a fill. It reads the property when it first connects.
   */
  private SdkClients newClients() {
    System.setProperty("http.maxConnections", Integer.toString(2 * PARALLEL_BATCHES));
    return new SdkClients(
        new SdkClients.Access(
            Optional.of(Region.of(variable("AWS_REGION"))),
            SdkClients.credentials(environment),
            optional("AWS_ENDPOINT_URL").map(URI::create)),
        SdkClients.newHttpClient(),
        Threads.timer("aws-timeouts"));
  }

  /**
   * A frame whose answer is lost may have been sent, so only a refusal for the rate is repeated,
   * and the whole call takes no longer than an attempt: the other sockets wait for it.
   */
  private static RetryStrategy.Builder<?, ?> posting() {
    return DefaultRetryStrategy.standardStrategyBuilder()
        .useClientDefaults(false)
        .retryOnException(LimitExceededException.class);
  }

  private Optional<String> optional(String name) {
    return Optional.ofNullable(environment.get(name)).filter(value -> !value.isEmpty());
  }

  private String variable(String name) {
    return optional(name).orElseThrow(() -> new MissingVariable(name));
  }

  /** An environment variable that something needs and that is not set. */
  public static final class MissingVariable extends IllegalStateException {
    private static final long serialVersionUID = 1L;

    MissingVariable(String name) {
      super("environment variable " + name + " is not set");
    }
  }
}
