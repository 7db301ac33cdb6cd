package dev.tollgate.infra;

import io.github.cdklabs.cdknag.RegexAppliesTo;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.iam.Grant;
import software.amazon.awscdk.services.iam.GrantOnPrincipalOptions;
import software.amazon.awscdk.services.iam.IGrantable;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.lambda.IFunction;
import software.constructs.Construct;

/**
 * Per-tenant admission control for WebSocket applications: tables, functions, APIs and the
 * schedules that fill the tenants' token buckets. The control plane creates the queues and
 * schedules of each tenant at run time.
 *
 * <p>All permissions of a function are declared here beside the function: {@code own…} and {@code
 * all…} for the role that it runs as, {@code tenant…} for the role that it assumes for one tenant.
 * The token producer, the housekeeper and the function of ended sessions assume none: they act on
 * no stranger's request, and the housekeeper visits all tenants each minute.
 */
public final class Tollgate extends Construct {
  /**
   * The time-out of functions behind an API. It is below the 29 seconds that API Gateway waits for
   * an answer, and above the longest sequence of AWS calls: 24 seconds in the authorizer, which may
   * have to wake a bucket, and 19 in {@code $connect}. A function that is stopped in between cannot
   * return its token or correct the count of connections.
   */
  private static final Duration ANSWER = Duration.seconds(25);

  /**
   * The time-out of a function that waits for the application's: as long as API Gateway waits. The
   * function bounds the application's time by what is left of it.
   */
  private static final Duration WITH_APPLICATION = Duration.seconds(29);

  /**
   * Lambda assigns CPU in proportion to memory. The functions mostly wait for AWS and keep little
   * data, so this is enough for the JVM and the SDK; it is not a measured optimum.
   */
  private static final int MEMORY_MB = 512;

  /**
   * For functions that need CPU. A handshake waits for two functions and, after a pause, for their
   * first TLS key exchanges. The token producer signs the requests of a whole shard within a
   * minute, and claims wait for it while it wakes a bucket.
   */
  private static final int BUSY_MEMORY_MB = 1_024;

  /** Events of session rows that were deleted, by their time to live or by hand. */
  private static final String REMOVED_WITH_CONNECTIONS =
      "{\"eventName\":[\"REMOVE\"],"
          + "\"dynamodb\":{\"OldImage\":{\"connectionIds\":{\"SS\":[{\"exists\":true}]}}}}";

  private static final String OF_CONNECTIONS_OR_BUCKETS =
      "{\"eventName\":[\"INSERT\",\"MODIFY\"],\"dynamodb\":{\"Keys\":{\"key\":{\"S\":"
          + "[\"connections\",{\"prefix\":\"bucket:\"}]}}}}";

  /** All writes: a row can be edited by hand, too. */
  private static final String EVERY_WRITE = "{\"eventName\":[\"INSERT\",\"MODIFY\",\"REMOVE\"]}";

  private final TollgateProps props;
  private final Tables tables;
  private final WebSocket webSocket;
  private final HttpApis http;
  private final Console console;
  private final FunctionWithRoles tokenProducer;
  private final Map<String, String> logGroups = new TreeMap<>();
  private final List<Role> sharers = new ArrayList<>();
  private Optional<TenantRole> claims = Optional.empty();

  /** Adds a Tollgate to {@code scope}. A stack may contain several with different prefixes. */
  public Tollgate(Construct scope, String id, TollgateProps props) {
    super(scope, id);
    this.props = props;
    Path handlers = props.jars().handlers();
    tables = new Tables(this, props);
    webSocket = new WebSocket(this, props);

    Schedules schedules = new Schedules(this, props);
    tokenProducer =
        new FunctionWithRoles(
                this,
                "TokenProducer",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                props.jars().tokenProducer(),
                "dev.tollgate.producer.TokenProducer",
                Duration.seconds(50),
                BUSY_MEMORY_MB,
                "Adds the tokens that are due to one bucket or to the buckets of a shard, and wakes hibernating buckets.")
            .concurrency(props.producerConcurrency())
            .ownIndex(tables.limit(), "shard", "Query")
            .ownRows(tables.tenant(), "GetItem", "PutItem")
            .ownRows(tables.limit(), "GetItem")
            .ownUpdates(
                tables.limit(), LimitAttributes.BUCKET, LimitAttributes.LINE, LimitAttributes.FREED)
            .allBuckets(
                "The token producer fills the bucket that a schedule or a claim names.",
                "GetQueueAttributes",
                "SetQueueAttributes",
                "SendMessage",
                "ReceiveMessage",
                "DeleteMessage")
            .invokesItself();
    schedules.invoke(tokenProducer);

    FunctionWithRoles authorizer =
        function(
                "Authorizer",
                handlers,
                "dev.tollgate.handlers.connect.ConnectAuthorizer",
                ANSWER,
                BUSY_MEMORY_MB,
                "Authorizes a handshake: reserves a token, or refuses.")
            .concurrency(props.authorizerConcurrency())
            .ownRows(tables.tenant(), "GetItem")
            .ownSwitch(tables.tier())
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(tables.session(), "BatchGetItem", "UpdateItem")
            .tenantRows(tables.limit(), "BatchGetItem", "GetItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.HINT,
                LimitAttributes.LINE,
                LimitAttributes.FREED,
                LimitAttributes.REFUSED)
            .tenantBuckets("ReceiveMessage", "ChangeMessageVisibility", "GetQueueAttributes")
            .requestsFills(tokenProducer);

    Optional<IFunction> itsConnect = props.webSocketApi().flatMap(AttachedApi::connect);
    FunctionWithRoles connect =
        function(
                "Connect",
                handlers,
                "dev.tollgate.handlers.connect."
                    + (itsConnect.isPresent() ? "Attached" : "")
                    + "Connect",
                itsConnect.isPresent() ? WITH_APPLICATION : ANSWER,
                BUSY_MEMORY_MB,
                "Registers a connection and consumes its token, or refuses it with 429.")
            .concurrency(props.connectConcurrency())
            .ownSwitch(tables.tier())
            .tenantRows(tables.session(), "UpdateItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.HINT,
                LimitAttributes.LINE,
                LimitAttributes.FREED,
                LimitAttributes.COUNT,
                LimitAttributes.ADMITTED,
                LimitAttributes.REFUSED)
            .tenantBuckets("DeleteMessage", "SendMessage");

    Optional<IFunction> itsDisconnect = props.webSocketApi().flatMap(AttachedApi::disconnect);
    FunctionWithRoles disconnect =
        function(
                "Disconnect",
                handlers,
                "dev.tollgate.handlers.connect."
                    + (itsDisconnect.isPresent() ? "Attached" : "")
                    + "Disconnect",
                itsDisconnect.isPresent() ? WITH_APPLICATION : ANSWER,
                MEMORY_MB,
                "Removes a closed connection from its session and from its tenant's count.")
            .tenantRows(tables.session(), "UpdateItem")
            .tenantWrites(tables.limit(), "UpdateItem", LimitAttributes.COUNT);
    itsConnect.ifPresent(connect::forwardsTo);
    itsDisconnect.ifPresent(disconnect::forwardsTo);
    props
        .webSocketApi()
        .ifPresent(attached -> opensSessions(attached, authorizer, connect, disconnect));

    FunctionWithRoles sessionApi =
        function(
                "SessionApi",
                handlers,
                "dev.tollgate.handlers.session.SessionApi",
                ANSWER,
                MEMORY_MB,
                "Creates, shows and ends sessions.")
            .ownRows(tables.tenant(), "GetItem")
            .ownSwitch(tables.tier())
            .connections(webSocket, "DELETE")
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(
                tables.session(), "GetItem", "BatchGetItem", "PutItem", "UpdateItem", "DeleteItem")
            .tenantRows(tables.limit(), "BatchGetItem", "GetItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.CREATION_RATE,
                LimitAttributes.COUNT,
                LimitAttributes.HINT,
                LimitAttributes.LINE,
                LimitAttributes.FREED);
    if (props.listTenants()) {
      sessionApi.ownRows(tables.tenant(), "Scan").variable("LIST_TENANTS", "true");
    }
    if (props.sessionAccess() instanceof SessionAccess.Jwt jwt) {
      sessionApi.variable("TENANT_CLAIM", jwt.tenantClaim());
    }

    FunctionWithRoles poolProcessor =
        function(
                "PoolProcessor",
                props.jars().processor(),
                "dev.tollgate.handlers.message.MessageProcessor",
                // Limited by the visibility timeout of the queue: see MessageQueues.
                Duration.seconds(15),
                MEMORY_MB,
                "Takes a token for each message, calls the message handler, and delivers its replies.")
            .ownRows(tables.tenant(), "GetItem")
            .ownSwitch(tables.tier())
            .connections(webSocket, "POST", "DELETE")
            .tenantRows(tables.tenant(), "BatchGetItem")
            .tenantRows(tables.session(), "BatchGetItem", "UpdateItem")
            .tenantRows(tables.limit(), "BatchGetItem")
            .tenantWrites(
                tables.limit(),
                "UpdateItem",
                LimitAttributes.HINT,
                LimitAttributes.LINE,
                LimitAttributes.COUNT)
            .tenantWrites(tables.limit(), "BatchWriteItem", LimitAttributes.MESSAGE)
            .tenantBuckets("ReceiveMessage", "DeleteMessage", "SendMessage", "GetQueueAttributes")
            .requestsFills(tokenProducer);
    MessageQueues messages = new MessageQueues(this, props, poolProcessor);

    FunctionWithRoles sessionEnd =
        new FunctionWithRoles(
                this,
                "SessionEnd",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                handlers,
                "dev.tollgate.handlers.housekeeping.SessionEnd",
                Duration.seconds(50),
                MEMORY_MB,
                "Closes the sockets of a deleted session and corrects the count of connections.")
            .ownRows(tables.tenant(), "GetItem")
            .connections(webSocket, "DELETE")
            .ownRows(tables.session(), "Query")
            .ownRows(tables.limit(), "GetItem")
            .ownUpdates(tables.limit(), LimitAttributes.COUNT, LimitAttributes.CORRECTION);
    // The housekeeper corrects the counts of events that could not be processed.
    StreamEvents removed =
        new StreamEvents(
            this,
            "RemovedSessions",
            tables.session(),
            sessionEnd,
            REMOVED_WITH_CONNECTIONS,
            25,
            Duration.seconds(0),
            true);

    FunctionWithRoles historyWriter =
        new FunctionWithRoles(
                this,
                "HistoryWriter",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                handlers,
                "dev.tollgate.handlers.history.HistoryWriter",
                Duration.minutes(15),
                MEMORY_MB,
                "Writes what happened to each tenant in each minute and hour.")
            .ownRows(tables.history(), "BatchWriteItem", "Query");
    schedules.everyHour(historyWriter);
    StreamEvents changes =
        new StreamEvents(
            this,
            "Changes",
            tables.limit(),
            historyWriter,
            OF_CONNECTIONS_OR_BUCKETS,
            10_000,
            Duration.minutes(1),
            // The part of a batch would have another name, and count again what was written of the
            // whole.
            false);

    FunctionWithRoles auditWriter =
        new FunctionWithRoles(
                this,
                "AuditWriter",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                handlers,
                "dev.tollgate.handlers.audit.AuditWriter",
                Duration.minutes(1),
                MEMORY_MB,
                "Writes who changed which tenant, tier or switch.")
            .ownRows(tables.audit(), "PutItem");
    tables.closeAudit(auditWriter.role());
    FunctionWithRoles auditEvents =
        new FunctionWithRoles(
                this,
                "AuditEvents",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                handlers,
                "dev.tollgate.handlers.audit.AuditEvents",
                Duration.minutes(1),
                MEMORY_MB,
                "Sends an event for each entry of the audit.")
            .own(List.of(Policies.arn(this, "events", "event-bus/default")), "events", "PutEvents")
            .variable("DEPLOYMENT", Stack.of(this).getStackName());
    StreamEvents entries =
        new StreamEvents(
            this,
            "AuditEntries",
            tables.audit(),
            auditEvents,
            "{\"eventName\":[\"INSERT\"]}",
            // The most of one request.
            10,
            Duration.seconds(0),
            true,
            StreamEvents.NO_END,
            "Entries");
    StreamEvents changedTenants = audited("ChangedTenants", tables.tenant(), auditWriter);
    StreamEvents changedTiers = audited("ChangedTiers", tables.tier(), auditWriter);

    FunctionWithRoles housekeeper =
        new FunctionWithRoles(
                this,
                "Housekeeper",
                props,
                FunctionWithRoles.Access.ALL_TENANTS,
                handlers,
                "dev.tollgate.handlers.housekeeping.Housekeeper",
                Duration.seconds(50),
                MEMORY_MB,
                "Ends expired sessions, finds closed connections, and corrects counts.")
            .ownRows(tables.tenant(), "GetItem")
            .ownIndex(tables.limit(), "live", "Query")
            .connections(webSocket, "GET", "DELETE")
            .ownRows(tables.session(), "Query", "UpdateItem", "DeleteItem")
            .ownRows(tables.limit(), "GetItem", "DeleteItem")
            .ownUpdates(tables.limit(), LimitAttributes.COUNT, LimitAttributes.CORRECTION)
            .invokesItself();
    props
        .socketChecksPerMinute()
        .ifPresent(checks -> housekeeper.variable("SOCKET_CHECKS", Integer.toString(checks)));
    schedules.everyMinute(housekeeper);

    FunctionWithRoles tenantPusher =
        function(
                "TenantPusher",
                handlers,
                "dev.tollgate.handlers.push.TenantPusher",
                // A page of slow sockets: see TenantPushes and Pushes.
                Duration.seconds(60),
                MEMORY_MB,
                "Sends a push to the sockets of a page of a tenant's sessions.")
            .connections(webSocket, "POST", "DELETE")
            .ownRows(tables.idempotency(), "PutItem", "DeleteItem")
            .tenantRows(tables.session(), "Query", "UpdateItem")
            .tenantWrites(tables.limit(), "UpdateItem", LimitAttributes.COUNT);
    PushQueue pushes = new PushQueue(this, props, tenantPusher);

    FunctionWithRoles controlPlane =
        provisioning(
                "ControlPlane",
                "dev.tollgate.controlplane.ControlPlaneApi",
                // An HTTP API waits for at most 30 seconds.
                Duration.seconds(29),
                "Onboards, changes and offboards tenants, and changes tiers.",
                schedules,
                messages)
            .ownRows(tables.tenant(), "Scan", "BatchGetItem")
            .ownIndex(tables.tenant(), "pending", "Query")
            .ownRows(tables.history(), "Query")
            .ownRows(tables.audit(), "Query")
            .ownIndex(tables.audit(), "byDay", "Query")
            .ownRows(tables.idempotency(), "PutItem", "DeleteItem")
            .own(List.of(messages.pool().getQueueArn()), "sqs", "SendMessage")
            .own(
                List.of(messages.poolDead().getQueueArn()),
                "sqs",
                "GetQueueAttributes",
                "ReceiveMessage",
                "ChangeMessageVisibility",
                "DeleteMessage")
            .variable("POOL_QUEUE_URL", messages.pool().getQueueUrl())
            .connections(webSocket, "POST")
            .tenantRows(tables.session(), "GetItem", "BatchGetItem")
            .tenantSiloRedrive(messages)
            .tenantSchedules(schedules, "GetSchedule")
            .shardSchedules(schedules, "GetSchedule", "DeleteSchedule")
            .own(List.of("*"), "sqs", "ListQueues")
            .own(List.of("*"), "scheduler", "ListSchedules")
            .own(List.of("*"), "lambda", "GetAccountSettings")
            .accept(
                "Resource::*",
                "SQS, Scheduler and Lambda support no resource-level permissions for ListQueues, "
                    + "ListSchedules and GetAccountSettings. They return only names and quotas. The "
                    + "control plane uses them to find orphaned queues and schedules, and to compare "
                    + "quotas with what the deployment needs.");
    pushes.sentBy(controlPlane);
    props
        .connectionQuota()
        .ifPresent(quota -> controlPlane.variable("CONNECTION_QUOTA", Integer.toString(quota)));
    props
        .alarmTopic()
        .ifPresent(
            topic ->
                controlPlane
                    .variable("ALARM_PREFIX", Monitoring.alarmPrefix(props.prefix()))
                    // CloudWatch shows alarms over alarms only to those who may read all.
                    .own(List.of("*"), "cloudwatch", "DescribeAlarms"));
    FunctionWithRoles sweep =
        provisioning(
                "Sweep",
                "dev.tollgate.controlplane.Sweep",
                Duration.seconds(50),
                "Finishes pending changes of tenants and tiers.",
                schedules,
                messages)
            .ownIndex(tables.tenant(), "pending", "Query")
            .ownIndex(tables.tenant(), "scheduled", "Query")
            .ownRows(tables.history(), "Query")
            .invokesItself();
    schedules.everyMinute(sweep);
    controlPlane
        .windowSchedules(schedules, "CreateSchedule", "GetSchedule", "DeleteSchedule")
        .variable("SWEEP_ARN", sweep.live().getFunctionArn());

    if (props.tracing()) {
      Stream.of(authorizer, connect, disconnect, sessionApi, poolProcessor)
          .forEach(FunctionWithRoles::traced);
    }

    tables.closeCredentials(sharers);
    tables
        .credentials()
        .ifPresent(
            table ->
                controlPlane
                    .own(List.of(table.getTableArn()), "dynamodb", "GetResourcePolicy")
                    .variable(
                        "CREDENTIALS_ROLES",
                        sharers.stream().map(Role::getRoleArn).collect(Collectors.joining(","))));

    props
        .webSocketApi()
        .ifPresentOrElse(
            attached -> new AttachedRoutes(this, attached, authorizer, connect, disconnect),
            () -> webSocket.routes(authorizer, connect, disconnect, messages));
    http = new HttpApis(this, props, sessionApi, controlPlane);
    console = new Console(this, props, controlPlane);
    console.configure(http, webSocket, props);
    ApiChanges.oneAfterAnother(this);

    List<FunctionWithRoles> functions =
        List.of(
            authorizer,
            connect,
            disconnect,
            sessionApi,
            poolProcessor,
            tokenProducer,
            sessionEnd,
            housekeeper,
            controlPlane,
            sweep);
    Stream.concat(
            functions.stream(), Stream.of(auditEvents, auditWriter, historyWriter, tenantPusher))
        .forEach(each -> logGroups.put(each.getNode().getId(), each.logGroup()));
    logGroups.put("Console", console.logGroup());
    if (props.eventSchemas()) {
      new EventSchemas(this, props.prefix());
    }
    props
        .alarmTopic()
        .ifPresent(
            topic ->
                new Monitoring(
                    this,
                    props.prefix(),
                    topic,
                    new Monitoring.Sources(
                        functions,
                        authorizer,
                        tokenProducer,
                        List.of(housekeeper, sweep),
                        List.of(sessionEnd, historyWriter, auditWriter, auditEvents),
                        messages.pool(),
                        new TreeMap<>(
                            Map.of(
                                "messages",
                                messages.poolDead(),
                                "pushes",
                                pushes.dead(),
                                "events of schedules",
                                schedules.deadLetters(),
                                "removed sessions",
                                removed.failures(),
                                "history",
                                changes.failures(),
                                "events",
                                entries.failures(),
                                "changed tenants",
                                changedTenants.failures(),
                                "changed tiers",
                                changedTiers.failures())),
                        schedules.groupName(),
                        props.connectionQuota().orElse(TollgateProps.NEW_CONNECTIONS_A_SECOND))));
  }

  /** The URL that creates sessions: {@code https://…/session}. */
  public String sessionUrl() {
    return http.sessionUrl() + "/session";
  }

  /**
   * The URL that lists tenants, if {@link TollgateProps#listTenants()}: {@code https://…/tenant}.
   */
  public Optional<String> tenantUrl() {
    return props.listTenants() ? Optional.of(http.sessionUrl() + "/tenant") : Optional.empty();
  }

  /** The URL that opens sockets: {@code wss://…/production}. */
  public String webSocketUrl() {
    return webSocket.url();
  }

  /** The URL of the control plane, without a path: {@code https://…}. */
  public String controlPlaneUrl() {
    return http.controlUrl();
  }

  /** The URL of the sample client: {@code https://…/}. */
  public String sampleClientUrl() {
    return console.url() + "/";
  }

  /** The URL of the operator page: {@code https://…/operator}. */
  public String operatorPageUrl() {
    return console.operatorPageUrl();
  }

  /**
   * The id of the user pool to which an administrator invites operators, if {@link
   * TollgateProps#consoleSignIn()}.
   */
  public Optional<String> operatorPoolId() {
    return console.operatorPool();
  }

  /**
   * The names of the functions' log groups, by the names of the functions in this construct. The
   * functions of silo tenants write to the group of {@code PoolProcessor}.
   */
  public Map<String, String> logGroups() {
    return Collections.unmodifiableMap(logGroups);
  }

  /**
   * Allows an application to claim tokens from tenants' buckets. Returns the environment variables
   * that {@code TollgateClient.fromEnvironment()} reads:
   *
   * <pre>{@code
   * Tollgate tollgate = new Tollgate(stack, "Tollgate", TollgateProps.builder().build());
   * tollgate.grantClaims(function).forEach(function::addEnvironment);
   * }</pre>
   *
   * <p>The application keeps its own role, which may invoke the token producer and assume a role
   * that all grantees share, for one tenant at a time. Because the two roles refer to each other,
   * the grantee's role must be in this stack. A function of another stack can run as a role of this
   * one.
   *
   * @param grantee a function, a role, or anything else that runs as a role
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
                        .writes(
                            tables.limit(),
                            "UpdateItem",
                            LimitAttributes.HINT,
                            LimitAttributes.LINE,
                            LimitAttributes.FREED)
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

  /**
   * Allows an application to push messages to clients. Returns the environment variable that {@code
   * PushClient.fromEnvironment()} reads.
   *
   * @param grantee a function, a role, or anything else that runs as a role
   * @return {@code CONTROL_PLANE_URL}
   */
  public Map<String, String> grantPush(IGrantable grantee) {
    Grant.addToPrincipal(
            GrantOnPrincipalOptions.builder()
                .grantee(grantee)
                .actions(List.of("execute-api:Invoke"))
                .resourceArns(List.of(http.pushArn()))
                .build())
        .assertSuccess();
    if (grantee.getGrantPrincipal() instanceof Role role) {
      Policies.accept(
          role,
          RegexAppliesTo.builder().regex("/^Resource::.*\\/POST\\/tenants\\/\\*\\/push$/").build(),
          "The wildcard stands for the tenant's id: a backend pushes to clients of all tenants.");
    }
    return Map.of("CONTROL_PLANE_URL", controlPlaneUrl());
  }

  /** Sessions of an attached API, which connections open: no client creates one. */
  private void opensSessions(
      AttachedApi attached,
      FunctionWithRoles authorizer,
      FunctionWithRoles connect,
      FunctionWithRoles disconnect) {
    AttachedApi.TenantSource source = attached.tenants();
    String shared = source.subject().isPresent() ? "PER_SUBJECT" : "PER_CONNECTION";
    Stream.of(authorizer, connect, disconnect)
        .forEach(each -> each.variable("OPENED_SESSIONS", shared));
    if (source instanceof AttachedApi.TenantSource.WebToken token) {
      verifiesTokens(token, authorizer);
    } else {
      authorizer.variable(
          "TENANT_PARAMETER", ((AttachedApi.TenantSource.QueryParameters) source).tenant());
      source.subject().ifPresent(name -> authorizer.variable("SUBJECT_PARAMETER", name));
    }
    connect.tenantWrites(
        tables.limit(),
        "UpdateItem",
        LimitAttributes.CREATION_RATE,
        LimitAttributes.HINT,
        LimitAttributes.LINE,
        LimitAttributes.FREED);
    if (source.subject().isEmpty()) {
      Stream.of(connect, disconnect)
          .forEach(each -> each.tenantRows(tables.session(), "DeleteItem"));
    }
  }

  private static void verifiesTokens(
      AttachedApi.TenantSource.WebToken token, FunctionWithRoles authorizer) {
    AttachedApi.TokenPlace place = token.place();
    authorizer.variable(
        "TOKEN_PLACE",
        place instanceof AttachedApi.TokenPlace.Query query
            ? "query:" + query.parameter()
            : place instanceof AttachedApi.TokenPlace.Authorization
                ? "authorization"
                : "subprotocol");
    authorizer.variable("TOKEN_ISSUER", token.accepted().issuer());
    authorizer.variable("TOKEN_AUDIENCES", String.join(" ", token.accepted().audiences()));
    authorizer.variable(
        "TOKEN_ALGORITHMS",
        token.algorithms().stream().sorted().map(Enum::name).collect(Collectors.joining(" ")));
    authorizer.variable("TOKEN_CLOCK_SKEW_SECONDS", Long.toString(token.clockSkew().toSeconds()));
    authorizer.variable("TENANT_CLAIM", token.accepted().tenantClaim());
    token.subject().ifPresent(name -> authorizer.variable("SUBJECT_CLAIM", name));
  }

  /** Events of what operators change. An entry that cannot be written is retried for a day. */
  private StreamEvents audited(String id, Table table, FunctionWithRoles writer) {
    return new StreamEvents(
        this,
        id,
        table,
        writer,
        EVERY_WRITE,
        100,
        Duration.seconds(0),
        true,
        StreamEvents.NO_END,
        id);
  }

  private FunctionWithRoles function(
      String id, Path jar, String handler, Duration timeout, int memoryMb, String description) {
    FunctionWithRoles function =
        new FunctionWithRoles(
            this,
            id,
            props,
            FunctionWithRoles.Access.ONE_TENANT,
            jar,
            handler,
            timeout,
            memoryMb,
            description);
    tables.credentials().ifPresent(function::sharesCredentials);
    sharers.add(function.role());
    return function;
  }

  /** The control plane or the sweep: both reconcile tenants and tiers with their desired state. */
  private FunctionWithRoles provisioning(
      String id,
      String handler,
      Duration timeout,
      String description,
      Schedules schedules,
      MessageQueues messages) {
    return function(id, props.jars().controlPlane(), handler, timeout, MEMORY_MB, description)
        .ownRows(tables.tenant(), "GetItem", "PutItem", "UpdateItem", "DeleteItem")
        .ownIndex(tables.tenant(), "byTier", "Query")
        .ownRows(tables.tier(), "GetItem", "PutItem", "UpdateItem", "DeleteItem", "Scan")
        .ownRows(tables.limit(), "Query")
        .ownUpdates(tables.limit(), LimitAttributes.BUCKET)
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
        .tenantSchedules(schedules, "CreateSchedule", "UpdateSchedule", "DeleteSchedule")
        .shardSchedules(schedules, "CreateSchedule")
        .variable("TOKEN_PRODUCER_ARN", tokenProducer.live().getFunctionArn())
        .tenantSilo(messages)
        .accept(
            RegexAppliesTo.builder()
                .regex("/^Resource::<TollgatePoolProcessorFunction[0-9A-F]+\\.Arn>:\\*$/")
                .build(),
            "The wildcard stands for a version of the pool's processor. Each deployment publishes "
                + "one, and the previous version stays in use during the deployment.")
        .accept(
            "Resource::*",
            "Lambda supports no resource-level permissions for ListEventSourceMappings. It returns "
                + "only which queue is mapped to which function.");
  }
}
