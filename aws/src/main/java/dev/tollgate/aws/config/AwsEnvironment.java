package dev.tollgate.aws.config;

import dev.tollgate.aws.Arns;
import dev.tollgate.aws.ResourceNames;
import dev.tollgate.aws.cloudwatch.CloudWatchAlarms;
import dev.tollgate.aws.credentials.AssumedRoles;
import dev.tollgate.aws.credentials.CredentialFailures;
import dev.tollgate.aws.credentials.CredentialStore;
import dev.tollgate.aws.credentials.CredentialTable;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.DynamoDbCredentialsPolicy;
import dev.tollgate.aws.dynamodb.DynamoDbIdempotencyKeys;
import dev.tollgate.aws.dynamodb.audit.DynamoDbAuditLog;
import dev.tollgate.aws.dynamodb.audit.FlatAuditRow;
import dev.tollgate.aws.dynamodb.history.DynamoDbHistory;
import dev.tollgate.aws.dynamodb.limit.DynamoDbActivity;
import dev.tollgate.aws.dynamodb.limit.DynamoDbBuckets;
import dev.tollgate.aws.dynamodb.limit.DynamoDbConnections;
import dev.tollgate.aws.dynamodb.limit.DynamoDbFactsReader;
import dev.tollgate.aws.dynamodb.limit.DynamoDbLiveTenants;
import dev.tollgate.aws.dynamodb.limit.DynamoDbMessageLog;
import dev.tollgate.aws.dynamodb.limit.DynamoDbSessions;
import dev.tollgate.aws.dynamodb.limit.DynamoDbSilos;
import dev.tollgate.aws.dynamodb.limit.LimitChanges;
import dev.tollgate.aws.dynamodb.limit.SessionTables;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbAdmitAllSwitch;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbConditions;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTenants;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTiers;
import dev.tollgate.aws.dynamodb.tenant.OperatorChanges;
import dev.tollgate.aws.events.EventBridgeChangeEvents;
import dev.tollgate.aws.gateway.ApiGatewaySockets;
import dev.tollgate.aws.lambda.LambdaApplicationFunction;
import dev.tollgate.aws.lambda.LambdaFillRequests;
import dev.tollgate.aws.lambda.LambdaSelfInvocation;
import dev.tollgate.aws.lambda.LambdaSiloFunctions;
import dev.tollgate.aws.scheduler.EventBridgeFillSchedules;
import dev.tollgate.aws.scheduler.EventBridgeWindowSchedules;
import dev.tollgate.aws.sqs.QueueUrls;
import dev.tollgate.aws.sqs.SqsBucketQueues;
import dev.tollgate.aws.sqs.SqsDeadLetters;
import dev.tollgate.aws.sqs.SqsPushQueue;
import dev.tollgate.aws.sqs.SqsSiloQueues;
import dev.tollgate.aws.sqs.SqsTokenQueue;
import dev.tollgate.aws.tracing.XRayTracing;
import dev.tollgate.core.Threads;
import dev.tollgate.core.alarm.Alarms;
import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.ChangeEvents;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.audit.RowAudit;
import dev.tollgate.core.audit.StoredEntries;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.FillRequests;
import dev.tollgate.core.bucket.fill.FillSchedules;
import dev.tollgate.core.condition.Conditions;
import dev.tollgate.core.connect.Activity;
import dev.tollgate.core.connect.AdmissionFactsReader;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.core.connect.Disconnection;
import dev.tollgate.core.connect.OpenedSessions;
import dev.tollgate.core.enforcement.AdmitAllSwitch;
import dev.tollgate.core.fanout.SelfInvocation;
import dev.tollgate.core.history.History;
import dev.tollgate.core.history.RowChanges;
import dev.tollgate.core.housekeeping.LiveTenants;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.message.DeadLetters;
import dev.tollgate.core.message.MessageFactsReader;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageProcessing.Timing;
import dev.tollgate.core.message.PushQueue;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import dev.tollgate.core.provisioning.SiloFunctions;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.provisioning.WindowSchedules;
import dev.tollgate.core.session.Connections;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.session.Sockets;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tiers;
import java.net.URI;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The ports of core over AWS, configured by the environment variables of a function.
 *
 * <p>Adapters and SDK clients are created at the first use, and only then are variables read. All
 * tenants share the SDK clients; each request carries the credentials of its tenant.
 *
 * <p>{@code CREDENTIALS_TABLE} names the table in which the instances of a function share tenants'
 * credentials. Without it, each instance asks STS itself.
 */
public final class AwsEnvironment {
  /** Credentials of so many tenants take some 40 MB. */
  private static final int CACHED_TENANTS = 20_000;

  private static final int DEFAULT_CONNECTION_QUOTA = 500;

  private final Variables variables;
  private final FunctionClients clients;
  private final InstantSource clock;
  private final CurrentAuthor author = new CurrentAuthor();
  private final Lazy<TenantCredentials> tenantCredentials;
  private final Lazy<SessionTables> sessionTables = new Lazy<>(this::newSessionTables);
  private final Lazy<Executor> batches;

  /**
   * The ports for these environment variables. Each request about a tenant uses credentials that
   * are restricted to this tenant.
   *
   * @param clock determines when credentials, leases and cached results expire
   * @param log receives the metrics of failed requests for credentials
   */
  public AwsEnvironment(
      Map<String, String> environment, InstantSource clock, Consumer<String> log) {
    this(environment, clock, log, Optional.empty());
  }

  /** The same, where all requests are traced. */
  public AwsEnvironment(
      Map<String, String> environment,
      InstantSource clock,
      Consumer<String> log,
      Optional<XRayTracing> tracing) {
    this(
        environment,
        clock,
        tracing,
        (AwsEnvironment aws) -> aws.assumedRoles(new CredentialFailures(clock, log)));
  }

  /**
   * The ports of a function that acts on no stranger's request: requests about tenants use the
   * function's own role, and {@code TENANT_ROLE_ARN} is not read.
   */
  public static AwsEnvironment withOwnRole(Map<String, String> environment, InstantSource clock) {
    return new AwsEnvironment(
        environment,
        clock,
        Optional.empty(),
        (AwsEnvironment aws) -> TenantCredentials.own(aws.clients.ownCredentials()));
  }

  private AwsEnvironment(
      Map<String, String> environment,
      InstantSource clock,
      Optional<XRayTracing> tracing,
      Function<AwsEnvironment, TenantCredentials> credentials) {
    this.variables = new Variables(environment);
    this.clients = new FunctionClients(variables, tracing.map(XRayTracing::interceptor));
    this.clock = clock;
    this.tenantCredentials = new Lazy<>(() -> credentials.apply(this));
    this.batches =
        new Lazy<>(
            () -> {
              Executor threads = Threads.upTo(FunctionClients.PARALLEL_BATCHES, "sqs-batch");
              return tracing.map(xray -> xray.bound(threads)).orElse(threads);
            });
  }

  /**
   * Tokens in SQS queues. Needs {@code QUEUE_URL_PREFIX} and {@code TENANT_ROLE_ARN}.
   *
   * @throws MissingVariable if one of them is not set, like all other methods of this class
   */
  public TokenQueue tokenQueue() {
    return new SqsTokenQueue(
        clients.sqs(),
        clients.sqsOnce(),
        queueUrls(),
        tenantCredentials.get(),
        batches.get(),
        clock);
  }

  /**
   * The queues of buckets. Needs {@code QUEUE_URL_PREFIX} and {@code TENANT_ROLE_ARN}. Creating a
   * queue and reading its owner also need {@code DEPLOYMENT}.
   */
  public BucketQueues bucketQueues() {
    return new SqsBucketQueues(
        clients.sqsBackground(),
        queueUrls(),
        tenantCredentials.get(),
        () -> variables.required("DEPLOYMENT"));
  }

  /**
   * The schedules that fill buckets. Needs {@code SCHEDULE_GROUP}, {@code TOKEN_PRODUCER_ARN},
   * {@code SCHEDULE_ROLE_ARN}, {@code SCHEDULE_DEAD_LETTER_ARN}, {@code QUEUE_URL_PREFIX} and
   * {@code TENANT_ROLE_ARN}.
   */
  public FillSchedules fillSchedules() {
    return fillSchedules(variables.required("TOKEN_PRODUCER_ARN"));
  }

  /**
   * The schedules that fill buckets, for the token producer itself. CloudFormation cannot put a
   * function's own ARN into its environment, so the caller takes it from the invocation. Needs no
   * {@code TOKEN_PRODUCER_ARN}.
   */
  public FillSchedules fillSchedules(String tokenProducerArn) {
    return new EventBridgeFillSchedules(
        clients.schedulerBackground(),
        queueUrls(),
        tenantCredentials.get(),
        destination(tokenProducerArn));
  }

  private EventBridgeFillSchedules.Destination destination(String targetArn) {
    return new EventBridgeFillSchedules.Destination(
        variables.required("SCHEDULE_GROUP"),
        targetArn,
        variables.required("SCHEDULE_ROLE_ARN"),
        variables.required("SCHEDULE_DEAD_LETTER_ARN"));
  }

  /**
   * The schedules that open and close the windows of scheduled limits; present only in the function
   * that answers operators, which has {@code SWEEP_ARN}. Needs the variables of {@link
   * #fillSchedules()} that begin with {@code SCHEDULE}.
   */
  public Optional<WindowSchedules> windowSchedules() {
    return variables
        .optional("SWEEP_ARN")
        .map(
            sweep ->
                new EventBridgeWindowSchedules(clients.schedulerBackground(), destination(sweep)));
  }

  /**
   * The queues of silos. Needs {@code QUEUE_URL_PREFIX}, {@code PROCESSOR_FUNCTION_ARN}, {@code
   * POOL_DEAD_LETTER_URL} and {@code TENANT_ROLE_ARN}.
   */
  public SiloQueues siloQueues() {
    return new SqsSiloQueues(
        clients.sqsBackground(),
        queueUrls(),
        arns(),
        variables.required("POOL_DEAD_LETTER_URL"),
        tenantCredentials.get());
  }

  /**
   * Dead letters; those of the pool with the function's own role. Needs {@code POOL_QUEUE_URL} and
   * what {@link #siloQueues} needs.
   */
  public DeadLetters deadLetters() {
    return new SqsDeadLetters(
        clients.sqsBackground(),
        queueUrls(),
        new SqsDeadLetters.Pool(
            variables.required("POOL_QUEUE_URL"), variables.required("POOL_DEAD_LETTER_URL")),
        siloQueues(),
        TenantCredentials.own(clients.ownCredentials()),
        tenantCredentials.get());
  }

  /**
   * The functions of silos. Needs {@code PROCESSOR_FUNCTION_ARN}, {@code PROCESSOR_CODE_BUCKET},
   * {@code PROCESSOR_CODE_KEY} and {@code TENANT_ROLE_ARN}.
   */
  public SiloFunctions siloFunctions() {
    return new LambdaSiloFunctions(
        clients.lambdaBackground(),
        names(),
        arns(),
        new LambdaSiloFunctions.Code(
            variables.required("PROCESSOR_CODE_BUCKET"), variables.required("PROCESSOR_CODE_KEY")),
        tenantCredentials.get());
  }

  /** Silos in the Limit table. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Silos silos() {
    return new DynamoDbSilos(
        clients.dynamoDb(), variables.required("LIMIT_TABLE"), tenantCredentials.get());
  }

  /**
   * The policy of the table in which functions share credentials, read with the function's own
   * role; empty without {@code CREDENTIALS_ROLES}, the ARNs of the roles that may access its rows,
   * separated by commas. Needs {@code CREDENTIALS_TABLE} and {@code PROCESSOR_FUNCTION_ARN}.
   */
  public Optional<CredentialsPolicy> credentialsPolicy() {
    return variables
        .optional("CREDENTIALS_ROLES")
        .map(
            roles ->
                new DynamoDbCredentialsPolicy(
                    clients.dynamoDb(),
                    arns().table(variables.required("CREDENTIALS_TABLE")),
                    Set.of(roles.split(","))));
  }

  /** The release that silo functions are updated to. Needs {@code PROCESSOR_FUNCTION_ARN}. */
  public Release release() {
    return new Release(variables.required("PROCESSOR_FUNCTION_ARN"));
  }

  /**
   * How many new WebSocket connections a second API Gateway accepts from the account. The variable
   * overrides the default quota.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/apigateway/latest/developerguide/apigateway-execution-service-websocket-limits-table.html">Quotas
   *     for configuring and running a WebSocket in API Gateway</a>
   */
  public int connectionQuota() {
    return variables
        .optional("CONNECTION_QUOTA")
        .map(Integer::parseInt)
        .orElse(DEFAULT_CONNECTION_QUOTA);
  }

  /** How many sockets the housekeeper may check a minute, if the variable limits it. */
  public OptionalInt socketChecksPerMinute() {
    return variables
        .optional("SOCKET_CHECKS")
        .map(text -> OptionalInt.of(Integer.parseInt(text)))
        .orElseGet(OptionalInt::empty);
  }

  /** Buckets in the Limit table. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public Buckets buckets() {
    return new DynamoDbBuckets(
        clients.dynamoDb(), variables.required("LIMIT_TABLE"), tenantCredentials.get());
  }

  /**
   * Buckets in the Limit table, with the function's own role: for work on many tenants, each of
   * which would otherwise take a request to STS. Needs {@code LIMIT_TABLE}.
   */
  public Buckets bucketsWithOwnRole() {
    return new DynamoDbBuckets(
        clients.dynamoDb(),
        variables.required("LIMIT_TABLE"),
        TenantCredentials.own(clients.ownCredentials()));
  }

  /** The log of processed messages. Needs {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. */
  public MessageLog messageLog() {
    return new DynamoDbMessageLog(
        clients.dynamoDb(), variables.required("LIMIT_TABLE"), tenantCredentials.get());
  }

  /**
   * The totals of admitted and refused connections. Needs {@code LIMIT_TABLE} and {@code
   * TENANT_ROLE_ARN}.
   */
  public Activity activity() {
    return activity(tenantCredentials.get());
  }

  /** The same with the function's own role, as {@link #bucketsWithOwnRole}. */
  public Activity activityWithOwnRole() {
    return activity(TenantCredentials.own(clients.ownCredentials()));
  }

  private Activity activity(TenantCredentials credentials) {
    return new DynamoDbActivity(
        clients.dynamoDb(), clients.dynamoDbOnce(), variables.required("LIMIT_TABLE"), credentials);
  }

  /** What happened to tenants, with the function's own role. Needs {@code HISTORY_TABLE}. */
  public History history() {
    return new DynamoDbHistory(clients.dynamoDb(), variables.required("HISTORY_TABLE"));
  }

  /** The audit, with the function's own role. Needs {@code AUDIT_TABLE}. */
  public AuditLog auditLog() {
    return new DynamoDbAuditLog(clients.dynamoDb(), variables.required("AUDIT_TABLE"));
  }

  /**
   * The alarms whose names begin with {@code ALARM_PREFIX}, with the function's own role; none
   * without this variable.
   */
  public Alarms alarms() {
    Optional<String> prefix = variables.optional("ALARM_PREFIX");
    return prefix.isPresent()
        ? new CloudWatchAlarms(clients.newCloudWatch(), prefix.get())
        : List::of;
  }

  /** Reads entries of the audit from changes of rows. */
  public RowAudit rowAudit() {
    return new OperatorChanges();
  }

  /** Reads entries from rows of the audit. */
  public StoredEntries storedEntries() {
    return new FlatAuditRow();
  }

  /** Events of changes, with the function's own role. Needs {@code DEPLOYMENT}. */
  public ChangeEvents changeEvents() {
    return new EventBridgeChangeEvents(clients.newEvents(), variables.required("DEPLOYMENT"));
  }

  /** The author of the changes of tenants, tiers and the switch, which the function sets. */
  public CurrentAuthor author() {
    return author;
  }

  /** Reads what happened to a tenant from the changes of its rows. */
  public RowChanges rowChanges() {
    return new LimitChanges();
  }

  /** Fill requests, with the function's own role. Needs {@code TOKEN_PRODUCER_ARN}. */
  public FillRequests fillRequests() {
    return new LambdaFillRequests(clients.lambdaOnce(), variables.required("TOKEN_PRODUCER_ARN"));
  }

  /**
   * The application's function to which this one forwards, with its own role. Needs {@code
   * APPLICATION_FUNCTION_ARN}.
   */
  public ApplicationFunction applicationFunction() {
    return new LambdaApplicationFunction(
        clients.newApplicationLambda(), variables.required("APPLICATION_FUNCTION_ARN"));
  }

  /**
   * Whose connections share a session that no client created, if the WebSocket API is the
   * application's own; empty if clients create sessions. Reads {@code OPENED_SESSIONS}.
   */
  public Optional<OpenedSessions> openedSessions() {
    return variables.optional("OPENED_SESSIONS").map(OpenedSessions::valueOf);
  }

  /**
   * Requests to the function itself, with its own role. CloudFormation cannot put a function's own
   * ARN into its environment, so the caller takes it from the invocation.
   */
  public <W extends SelfInvocation.Work> SelfInvocation<W> selfInvocation(String functionArn) {
    return new LambdaSelfInvocation<>(clients.lambdaOnce(), functionArn);
  }

  /** Tenants, with the function's own role. Needs {@code TENANT_TABLE}. */
  public Tenants tenants() {
    return tenantRows();
  }

  /** Notes for the audit, with the function's own role. Needs {@code TENANT_TABLE}. */
  public AuditNotes auditNotes() {
    return tenantRows();
  }

  private DynamoDbTenants tenantRows() {
    return new DynamoDbTenants(clients.dynamoDb(), variables.required("TENANT_TABLE"), author);
  }

  /** Tiers, with the function's own role. Needs {@code TIER_TABLE}. */
  public Tiers tiers() {
    return new DynamoDbTiers(clients.dynamoDb(), variables.required("TIER_TABLE"), author);
  }

  /** The switch that lifts all limits, with the function's own role. Needs {@code TIER_TABLE}. */
  public AdmitAllSwitch admitAllSwitch() {
    return new DynamoDbAdmitAllSwitch(clients.dynamoDb(), variables.required("TIER_TABLE"), author);
  }

  /** Conditions of tenants, with the function's own role. Needs {@code TIER_TABLE}. */
  public Conditions conditions() {
    return new DynamoDbConditions(clients.dynamoDb(), variables.required("TIER_TABLE"), author);
  }

  /** Idempotency keys, with the function's own role. Needs {@code IDEMPOTENCY_TABLE}. */
  public IdempotencyKeys idempotencyKeys() {
    return new DynamoDbIdempotencyKeys(clients.dynamoDb(), variables.required("IDEMPOTENCY_TABLE"));
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
   * The tenants that may have sessions. Listing them uses the function's own role. Needs {@code
   * SESSION_TABLE}, {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}.
   */
  public LiveTenants liveTenants() {
    return new DynamoDbLiveTenants(sessionTables.get());
  }

  /**
   * Reads the rows that an admission depends on. Needs {@code TENANT_TABLE}, {@code SESSION_TABLE},
   * {@code LIMIT_TABLE} and {@code TENANT_ROLE_ARN}. The reader caches whether a tenant exists, so
   * create it once.
   */
  public AdmissionFactsReader factsReader() {
    return newFactsReader();
  }

  /**
   * Reads the rows that message processing depends on. Needs the same variables as {@link
   * #factsReader}.
   */
  public MessageFactsReader messageFactsReader() {
    return newFactsReader();
  }

  private DynamoDbFactsReader newFactsReader() {
    return new DynamoDbFactsReader(
        clients.dynamoDb(),
        new DynamoDbFactsReader.Tables(
            variables.required("TENANT_TABLE"),
            variables.required("SESSION_TABLE"),
            variables.required("LIMIT_TABLE")),
        tenantCredentials.get(),
        clock);
  }

  /** The sockets of the WebSocket API. Needs {@code WEBSOCKET_URL}. */
  public Sockets sockets() {
    URI endpoint = URI.create(variables.required("WEBSOCKET_URL").replaceFirst("^ws", "http"));
    return new ApiGatewaySockets(clients.newConnections(endpoint), clients.newPosts(endpoint));
  }

  /**
   * Pushes to the sockets of sessions. Needs what {@link #sessions} and {@link #sockets} need.
   *
   * @param threads sends to sockets; must have a thread for each task
   */
  public Pushes pushes(Executor threads) {
    return new Pushes(
        sessions(),
        sockets(),
        new Disconnection(connections()),
        Threads.upTo(Pushes.PARALLEL_SESSIONS, "pushes"),
        new Timing(threads, clock, System::nanoTime));
  }

  /**
   * The queue of pushes to whole tenants, with the function's own role. Needs {@code
   * PUSH_QUEUE_URL}.
   */
  public PushQueue pushQueue() {
    return new SqsPushQueue(clients.sqsBackground(), variables.required("PUSH_QUEUE_URL"));
  }

  private SessionTables newSessionTables() {
    return new SessionTables(
        clients.dynamoDb(),
        clients.dynamoDbOnce(),
        variables.required("SESSION_TABLE"),
        variables.required("LIMIT_TABLE"),
        tenantCredentials.get());
  }

  private TenantCredentials assumedRoles(CredentialFailures failures) {
    String role = variables.required("TENANT_ROLE_ARN");
    CredentialStore shared =
        variables
            .optional("CREDENTIALS_TABLE")
            .<CredentialStore>map(
                table -> new CredentialTable(clients.dynamoDbBrief(), table, role, failures, clock))
            .orElse(CredentialStore.NONE);
    return new AssumedRoles(
        clients.newSts(),
        role,
        shared,
        failures,
        CACHED_TENANTS,
        clock,
        new SecureRandom()::nextDouble);
  }

  private QueueUrls queueUrls() {
    return new QueueUrls(variables.required("QUEUE_URL_PREFIX"), names());
  }

  private Arns arns() {
    return Arns.beside(variables.required("PROCESSOR_FUNCTION_ARN"));
  }

  private ResourceNames names() {
    return new ResourceNames(variables.optional("NAME_PREFIX").orElse(""));
  }
}
