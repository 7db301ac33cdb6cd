package dev.tollgate.infra;

import io.github.cdklabs.cdknag.RegexAppliesTo;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.iam.Grant;
import software.amazon.awscdk.services.iam.GrantOnPrincipalOptions;
import software.amazon.awscdk.services.iam.IGrantable;
import software.constructs.Construct;

/**
 * Per-tenant admission control for WebSocket applications: tables, functions, APIs and what fills
 * the tenants' token buckets. Queues and schedules of single tenants are made by its control plane.
 *
 * <p>Everything that a function may do stands here beside the function: {@code own…} with the role
 * it runs as, {@code tenant…} with the role it assumes for one tenant.
 */
public final class Tollgate extends Construct {
  /**
   * Below the 29 seconds that API Gateway waits for an answer, and above what calls to AWS services
   * may last, one after another: 22 seconds in the authorizer, which may have to wake a bucket, 17
   * in {@code $connect}. A function that is stopped among them leaves a token held, or a connection
   * counted, that it would have given back.
   */
  private static final Duration ANSWER = Duration.seconds(25);

  /**
   * CPU comes in proportion to memory. The functions wait for AWS most of their time and keep
   * little, so this is room for the JVM and the SDK, not a measured optimum.
   */
  private static final int MEMORY_MB = 512;

  /**
   * A handshake waits for two functions, and after a pause for the first key exchanges of both,
   * which are work for the CPU.
   */
  private static final int HANDSHAKE_MEMORY_MB = 1_024;

  private final TollgateProps props;
  private final Tables tables;
  private final WebSocket webSocket;
  private final HttpApis http;
  private final Console console;
  private final TenantFunction tokenProducer;
  private Optional<TenantRole> claims = Optional.empty();

  /** Adds a Tollgate to {@code scope}; a stack may hold several, if their prefixes differ. */
  public Tollgate(Construct scope, String id, TollgateProps props) {
    super(scope, id);
    this.props = props;
    Path handlers = props.jars().handlers();
    tables = new Tables(this, props.removalPolicy());
    webSocket = new WebSocket(this, props);

    Filling filling = new Filling(this, props);
    tokenProducer =
        function(
                "TokenProducer",
                props.jars().tokenProducer(),
                "dev.tollgate.producer.TokenProducer",
                Duration.seconds(50),
                MEMORY_MB,
                "Fills one bucket, or a shard's, with the tokens that are due; wakes those that hibernate.")
            .ownIndex(tables.limit(), "shard", "Query")
            .ownRows(tables.tenant(), "GetItem", "PutItem")
            .tenantRows(tables.limit(), "GetItem", "PutItem")
            .tenantBuckets(
                "GetQueueAttributes",
                "SetQueueAttributes",
                "SendMessage",
                "ReceiveMessage",
                "DeleteMessage");
    filling.by(tokenProducer);

    TenantFunction authorizer =
        function(
                "Authorizer",
                handlers,
                "dev.tollgate.handlers.connect.ConnectAuthorizer",
                ANSWER,
                HANDSHAKE_MEMORY_MB,
                "Reserves a token for a handshake and says whether there was one.")
            .concurrency(props.authorizerConcurrency())
            .ownRows(tables.tenant(), "GetItem")
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(tables.session(), "BatchGetItem")
            .tenantRows(tables.limit(), "BatchGetItem")
            .tenantWrites(
                tables.limit(), "UpdateItem", LimitAttributes.HINT, LimitAttributes.REFUSED)
            .tenantBuckets("ReceiveMessage", "ChangeMessageVisibility", "GetQueueAttributes")
            .requestsFills(tokenProducer);

    TenantFunction connect =
        function(
                "Connect",
                handlers,
                "dev.tollgate.handlers.connect.Connect",
                ANSWER,
                HANDSHAKE_MEMORY_MB,
                "Registers a connection and spends its token, or answers 429.")
            .concurrency(props.connectConcurrency())
            .tenantRows(tables.session(), "UpdateItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.HINT,
                LimitAttributes.COUNT,
                LimitAttributes.ADMITTED,
                LimitAttributes.REFUSED)
            .tenantBuckets("DeleteMessage", "SendMessage");

    TenantFunction disconnect =
        function(
                "Disconnect",
                handlers,
                "dev.tollgate.handlers.connect.Disconnect",
                ANSWER,
                MEMORY_MB,
                "Takes a connection that has gone off its session and its tenant's count.")
            .tenantRows(tables.session(), "UpdateItem")
            .tenantWrites(tables.limit(), "UpdateItem", LimitAttributes.COUNT);

    TenantFunction sessionApi =
        function(
                "SessionApi",
                handlers,
                "dev.tollgate.handlers.session.SessionApi",
                ANSWER,
                MEMORY_MB,
                "Creates, shows and ends sessions.")
            .ownRows(tables.tenant(), "GetItem")
            .connections(webSocket, "DELETE")
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(
                tables.session(), "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")
            .tenantRows(tables.limit(), "BatchGetItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.TURN,
                LimitAttributes.SUBJECT,
                LimitAttributes.COUNT);
    if (props.listTenants()) {
      sessionApi.ownRows(tables.tenant(), "Scan").variable("LIST_TENANTS", "true");
    }
    if (props.sessionAccess() instanceof SessionAccess.Jwt jwt) {
      sessionApi.variable("TENANT_CLAIM", jwt.tenantClaim());
    }

    TenantFunction poolProcessor =
        function(
                "PoolProcessor",
                props.jars().processor(),
                "dev.tollgate.handlers.message.MessageProcessor",
                // Longer, and a batch comes back while it is still worked on: see Messages.
                Duration.seconds(15),
                MEMORY_MB,
                "Pays for messages, hands them to the handler, and delivers what comes of it.")
            .ownRows(tables.tenant(), "GetItem")
            .connections(webSocket, "POST", "DELETE")
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(tables.session(), "BatchGetItem", "UpdateItem")
            .tenantRows(tables.limit(), "BatchGetItem")
            .tenantWrites(tables.limit(), "UpdateItem", LimitAttributes.HINT, LimitAttributes.COUNT)
            .tenantWrites(tables.limit(), "BatchWriteItem", LimitAttributes.MESSAGE)
            .tenantBuckets("ReceiveMessage", "DeleteMessage", "SendMessage", "GetQueueAttributes")
            .requestsFills(tokenProducer);
    Messages messages = new Messages(this, props, poolProcessor);

    TenantFunction sessionEnd =
        function(
                "SessionEnd",
                handlers,
                "dev.tollgate.handlers.housekeeping.SessionEnd",
                Duration.seconds(50),
                MEMORY_MB,
                "Closes the sockets of a session whose row has gone, and puts the count right.")
            .ownRows(tables.tenant(), "GetItem")
            .connections(webSocket, "DELETE")
            .tenantRows(tables.session(), "Query")
            .tenantRows(tables.limit(), "GetItem")
            .tenantWrites(
                tables.limit(), "UpdateItem", LimitAttributes.COUNT, LimitAttributes.CORRECTION);
    new RemovedSessions(this, tables.session(), sessionEnd);

    TenantFunction housekeeper =
        function(
                "Housekeeper",
                handlers,
                "dev.tollgate.handlers.housekeeping.Housekeeper",
                Duration.seconds(50),
                MEMORY_MB,
                "Ends sessions that are over, finds connections that have gone, and puts counts "
                    + "right.")
            .ownRows(tables.tenant(), "GetItem")
            .ownIndex(tables.limit(), "live", "Query")
            .connections(webSocket, "GET", "DELETE")
            .tenantRows(tables.session(), "Query", "UpdateItem", "DeleteItem")
            .tenantRows(tables.limit(), "GetItem", "DeleteItem")
            .tenantWrites(
                tables.limit(), "UpdateItem", LimitAttributes.COUNT, LimitAttributes.CORRECTION);
    filling.everyMinute(housekeeper);

    TenantFunction controlPlane =
        provisioning(
                "ControlPlane",
                "dev.tollgate.controlplane.ControlPlaneApi",
                // An HTTP API waits for 30 seconds and no longer.
                Duration.seconds(29),
                "Takes tenants on, moves them between tiers, and lets them go.",
                filling,
                messages)
            .ownRows(tables.tenant(), "Scan", "BatchGetItem")
            .ownIndex(tables.tenant(), "pending", "Query")
            .ownRows(tables.idempotency(), "PutItem", "DeleteItem")
            .tenantSchedules(filling, "GetSchedule")
            .shardSchedules(filling, "GetSchedule", "DeleteSchedule")
            .own(List.of("*"), "sqs", "ListQueues")
            .own(List.of("*"), "scheduler", "ListSchedules")
            .accept(
                "Resource::*",
                "SQS and Scheduler grant ListQueues and ListSchedules on no narrower resource. "
                    + "They tell names, by which queues and schedules are found that belong to no "
                    + "tenant any more, and change nothing.");
    TenantFunction sweep =
        provisioning(
                "Sweep",
                "dev.tollgate.controlplane.Sweep",
                Duration.seconds(50),
                "Finishes what the control plane could not.",
                filling,
                messages)
            .ownIndex(tables.tenant(), "pending", "Query");
    filling.everyMinute(sweep);

    webSocket.routes(authorizer, connect, disconnect);
    webSocket.messageRoutes(messages);
    http = new HttpApis(this, props, sessionApi, controlPlane);
    console = new Console(this, props, controlPlane);
    console.tell(http, webSocket, props);
  }

  /** Where sessions are created: {@code https://…/session}. */
  public String sessionUrl() {
    return http.sessionUrl() + "/session";
  }

  /** Where tenants are listed, if {@link TollgateProps#listTenants()}: {@code https://…/tenant}. */
  public Optional<String> tenantUrl() {
    return props.listTenants() ? Optional.of(http.sessionUrl() + "/tenant") : Optional.empty();
  }

  /** Where sockets are opened: {@code wss://…/production}. */
  public String webSocketUrl() {
    return webSocket.url();
  }

  /** Where the control plane answers, without a path: {@code https://…}. */
  public String controlPlaneUrl() {
    return http.controlUrl();
  }

  /** The sample client: {@code https://…/}. */
  public String sampleClientUrl() {
    return console.url() + "/";
  }

  /** The operator's page: {@code https://…/operator}. */
  public String operatorPageUrl() {
    return console.operatorPageUrl();
  }

  /**
   * The id of the user pool that operators are invited into, if {@link
   * TollgateProps#consoleSignIn()}.
   */
  public Optional<String> operatorPoolId() {
    return console.operatorPool();
  }

  /**
   * Lets an application claim tokens from tenants' buckets, and returns the environment variables
   * that {@code TollgateClient.fromEnvironment()} reads:
   *
   * <pre>{@code
   * Tollgate tollgate = new Tollgate(stack, "Tollgate", TollgateProps.builder().build());
   * tollgate.grantClaims(function).forEach(function::addEnvironment);
   * }</pre>
   *
   * <p>The application keeps its own role. From it, it assumes one role, which all grantees share,
   * for one tenant at a time; and it may invoke the token producer. Both roles name each other, so
   * the grantee's must be in this stack; a function of another stack can run as a role that was
   * made in this one.
   *
   * @param grantee a function, a task's role, or whatever else runs as a role
   * @return {@code LIMIT_TABLE}, {@code QUEUE_URL_PREFIX}, {@code TENANT_ROLE_ARN}, {@code
   *     TOKEN_PRODUCER_ARN} and, if this Tollgate has a prefix, {@code NAME_PREFIX}
   */
  public Map<String, String> grantClaims(IGrantable grantee) {
    String producer = tokenProducer.live().getFunctionArn();
    TenantRole role =
        claims
            .map(granted -> granted.assumedBy(grantee))
            .orElseGet(
                () ->
                    new TenantRole(this, "ClaimsRole", props, "an application", grantee)
                        .rows(tables.limit(), "GetItem")
                        .writes(tables.limit(), "UpdateItem", LimitAttributes.HINT)
                        .buckets(
                            "ReceiveMessage",
                            "DeleteMessage",
                            "ChangeMessageVisibility",
                            "GetQueueAttributes")
                        .variable("TOKEN_PRODUCER_ARN", producer));
    claims = Optional.of(role);
    Grant.addToPrincipal(
            GrantOnPrincipalOptions.builder()
                .grantee(grantee)
                .actions(List.of("lambda:InvokeFunction"))
                .resourceArns(List.of(producer))
                .build())
        .assertSuccess();
    return role.variables();
  }

  private TenantFunction function(
      String id, Path jar, String handler, Duration timeout, int memoryMb, String description) {
    return new TenantFunction(this, id, props, jar, handler, timeout, memoryMb, description);
  }

  /** The control plane or the sweep: both bring about what is desired of tenants and tiers. */
  private TenantFunction provisioning(
      String id,
      String handler,
      Duration timeout,
      String description,
      Filling filling,
      Messages messages) {
    return function(id, props.jars().controlPlane(), handler, timeout, MEMORY_MB, description)
        .ownRows(tables.tenant(), "GetItem", "PutItem", "UpdateItem", "DeleteItem")
        .ownIndex(tables.tenant(), "byTier", "Query")
        .ownRows(tables.tier(), "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Scan")
        .connections(webSocket, "DELETE")
        .own(List.of(messages.processor().versionsArn()), "lambda", "GetFunction")
        .own(List.of("*"), "lambda", "ListEventSourceMappings")
        .own(List.of(messages.poolDead().getQueueArn()), "sqs", "SendMessage")
        .variable("DEPLOYMENT", Stack.of(this).getStackName())
        .variable("PROCESSOR_FUNCTION_ARN", messages.processor().versionArn())
        .variable("PROCESSOR_CODE_BUCKET", messages.code().getS3BucketName())
        .variable("PROCESSOR_CODE_KEY", messages.code().getS3ObjectKey())
        .variable("POOL_DEAD_LETTER_URL", messages.poolDead().getQueueUrl())
        .tenantRows(tables.session(), "Query", "UpdateItem", "DeleteItem")
        .tenantRows(tables.limit(), "Query", "GetItem", "PutItem", "UpdateItem", "DeleteItem")
        .tenantBuckets(
            "CreateQueue",
            "TagQueue",
            "ListQueueTags",
            "DeleteQueue",
            "SetQueueAttributes",
            "GetQueueAttributes",
            "SendMessage",
            "ReceiveMessage",
            "DeleteMessage")
        .tenantSchedules(filling, "CreateSchedule", "UpdateSchedule", "DeleteSchedule")
        .shardSchedules(filling, "CreateSchedule")
        .variable("TOKEN_PRODUCER_ARN", tokenProducer.live().getFunctionArn())
        .tenantSilo(messages)
        .accept(
            RegexAppliesTo.builder()
                .regex("/^Resource::<TollgatePoolProcessorFunction[0-9A-F]+\\.Arn>:\\*$/")
                .build(),
            "The star is a version of the pool's processor. Each deployment publishes one, and "
                + "while it goes on the version before it is still asked for.")
        .accept(
            "Resource::*",
            "Lambda grants ListEventSourceMappings on no narrower resource. It tells which queue "
                + "is tied to which function, and changes nothing.");
  }
}
