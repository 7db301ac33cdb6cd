package dev.tollgate.infra;

import io.github.cdklabs.cdknag.RegexAppliesTo;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import software.amazon.awscdk.Annotations;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.iam.Policy;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Alias;
import software.amazon.awscdk.services.lambda.Architecture;
import software.amazon.awscdk.services.lambda.CfnEventSourceMapping;
import software.amazon.awscdk.services.lambda.CfnFunction;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.IFunction;
import software.amazon.awscdk.services.lambda.Runtime;
import software.amazon.awscdk.services.lambda.SnapStartConf;
import software.amazon.awscdk.services.logs.LogGroup;
import software.constructs.Construct;

/**
 * A function with the role that it runs as and, if it acts for strangers, a role that it assumes to
 * access the resources of one tenant.
 *
 * <p>Each grant also sets the environment variables with the names of the granted resources.
 */
final class FunctionWithRoles extends Construct {
  private final TollgateProps props;
  private final Role own;
  private final Optional<TenantRole> tenant;
  private final Function function;
  private final Alias live;
  private final LogGroup log;
  private final Duration timeout;

  /** The tenants whose resources a function may access in one request. */
  enum Access {
    /** One: the function assumes a role with the tenant's id as a session tag. */
    ONE_TENANT("Role"),
    /** All: the function acts on no stranger's request, and its own role has the grants. */
    ALL_TENANTS("AllTenantsRole");

    private final String roleId;

    Access(String roleId) {
      this.roleId = roleId;
    }
  }

  FunctionWithRoles(
      Construct scope,
      String id,
      TollgateProps props,
      Access access,
      Path jar,
      String handler,
      Duration timeout,
      int memoryMb,
      String description) {
    super(scope, id);
    this.props = props;
    this.timeout = timeout;
    log =
        LogGroup.Builder.create(this, "Log")
            .retention(props.logRetention())
            .removalPolicy(props.removalPolicy())
            .build();
    own =
        Role.Builder.create(this, access.roleId)
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .description("The role that " + id + " runs as, for resources of no single tenant.")
            .build();
    tenant =
        access == Access.ONE_TENANT
            ? Optional.of(new TenantRole(this, "TenantRole", props, id, own))
            : Optional.empty();
    function =
        Function.Builder.create(this, "Function")
            .description(description)
            .code(Code.fromAsset(jar.toString()))
            .handler(handler)
            // The newest runtime of Lambda; the code needs Java 17.
            .runtime(Runtime.JAVA_25)
            .architecture(Architecture.ARM_64)
            .snapStart(SnapStartConf.ON_PUBLISHED_VERSIONS)
            .memorySize(memoryMb)
            .timeout(timeout)
            .role(own)
            .logGroup(log)
            .environment(tenant.map(TenantRole::variables).orElseGet(Map::of))
            .build();
    Annotations.of(function)
        .acknowledgeWarning(
            "@aws-cdk/aws-lambda:snapStartRequirePublish",
            "The alias refers to a published version.");
    log.grantWrite(own);
    live =
        Alias.Builder.create(this, "Alias")
            .aliasName("live")
            .version(function.getCurrentVersion())
            .build();
  }

  /** The alias that callers invoke. SnapStart works only for published versions. */
  Alias live() {
    return live;
  }

  /** The function's name. */
  String name() {
    return function.getFunctionName();
  }

  /** How long an invocation may take. */
  Duration timeout() {
    return timeout;
  }

  /** The name of its log group. */
  String logGroup() {
    return log.getLogGroupName();
  }

  /** The role that the function runs as. */
  Role role() {
    return own;
  }

  /** The ARN pattern of all published versions. */
  String versionsArn() {
    return function.getFunctionArn() + ":*";
  }

  /** The ARN of the current version. */
  String versionArn() {
    return function.getCurrentVersion().getFunctionArn();
  }

  /**
   * Maps an event source to the function, after the role is allowed to read it.
   *
   * @param settings all settings except the function
   */
  FunctionWithRoles consumes(String id, UnaryOperator<CfnEventSourceMapping.Builder> settings) {
    CfnEventSourceMapping mapping =
        settings
            .apply(
                CfnEventSourceMapping.Builder.create(this, id + "Events")
                    .functionName(live.getFunctionArn()))
            .build();
    mapping.getNode().addDependency(own.getNode().findChild("DefaultPolicy"));
    return this;
  }

  /** Grants the function's own role access to the rows of all tenants. */
  FunctionWithRoles ownRows(Table table, String... actions) {
    own.addToPolicy(Policies.statement(List.of(table.getTableArn()), "dynamodb", actions).build());
    return variable(table);
  }

  /** Grants the function's own role reads of the row that lifts all limits. */
  FunctionWithRoles ownSwitch(Table tier) {
    own.addToPolicy(
        Policies.statement(List.of(tier.getTableArn()), "dynamodb", "GetItem")
            .conditions(
                Policies.inOrder(
                    Map.of(
                        "ForAllValues:StringEquals",
                        Map.of("dynamodb:LeadingKeys", "#admit-all"),
                        // ForAllValues also matches a request that names no key.
                        "Null",
                        Map.of("dynamodb:LeadingKeys", "false"))))
            .build());
    return variable(tier);
  }

  /** Grants the function's own role access to an index with the rows of all tenants. */
  FunctionWithRoles ownIndex(Table table, String index, String... actions) {
    own.addToPolicy(
        Policies.statement(List.of(table.getTableArn() + "/index/" + index), "dynamodb", actions)
            .build());
    return variable(table);
  }

  /**
   * Grants the function's own role updates of all tenants' rows in the Limit table that name only
   * the given attributes.
   */
  FunctionWithRoles ownUpdates(Table limit, LimitAttributes... attributes) {
    own.addToPolicy(
        Policies.statement(List.of(limit.getTableArn()), "dynamodb", "UpdateItem")
            .conditions(
                Policies.inOrder(
                    Map.of(
                        "ForAllValues:StringLike",
                        Map.of("dynamodb:Attributes", LimitAttributes.namesIn(attributes)),
                        // ForAllValues also matches a request that names no attribute.
                        "Null",
                        Map.of("dynamodb:Attributes", "false"))))
            .build());
    return variable(limit);
  }

  /** Grants the function's own role the buckets of all tenants. */
  FunctionWithRoles allBuckets(String reason, String... actions) {
    Policies.allBuckets(own, props.prefix(), reason, actions);
    if (!props.prefix().isEmpty()) {
      variable("NAME_PREFIX", props.prefix());
    }
    return variable("QUEUE_URL_PREFIX", Policies.queueUrlPrefix());
  }

  /** Grants the function's own role the schedules of all tenants' buckets. */
  FunctionWithRoles allSchedules(Schedules schedules, String... actions) {
    own.addToPolicy(
        Policies.statement(
                List.of(Policies.arn(own, "scheduler", schedules.buckets())), "scheduler", actions)
            .build());
    accept(
        Policies.finding("scheduler", schedules.buckets()),
        "The wildcards stand for a bucket's action and its tenant. The grant covers only the "
            + "stack's own group, and none of its schedules of shards and functions.");
    own.addToPolicy(schedules.passRole());
    schedules.variables().forEach(this::variable);
    return this;
  }

  /** Grants the function's own role other actions. */
  FunctionWithRoles own(List<String> resources, String service, String... actions) {
    own.addToPolicy(Policies.statement(resources, service, actions).build());
    return this;
  }

  /** Suppresses cdk-nag's finding for a wildcard in the function's own role, with a reason. */
  FunctionWithRoles accept(Object finding, String reason) {
    Policies.accept(own, finding, reason);
    return this;
  }

  /**
   * Grants the function's own role access to the schedules of shards, which belong to no tenant.
   */
  FunctionWithRoles shardSchedules(Schedules schedules, String... actions) {
    return ownSchedules(schedules, schedules.shards(), "a shard's number", actions);
  }

  /**
   * Grants the function's own role access to the schedules that open and close the windows of
   * scheduled limits.
   */
  FunctionWithRoles windowSchedules(Schedules schedules, String... actions) {
    return ownSchedules(
        schedules, schedules.windows(), "a tier or a tenant, and an instant", actions);
  }

  private FunctionWithRoles ownSchedules(
      Schedules schedules, String names, String wildcard, String... actions) {
    own.addToPolicy(
        Policies.statement(List.of(Policies.arn(own, "scheduler", names)), "scheduler", actions)
            .build());
    Policies.accept(
        own,
        Policies.finding("scheduler", names),
        "The wildcard stands for " + wildcard + ". The grant covers only the stack's own group.");
    own.addToPolicy(schedules.passRole());
    return this;
  }

  /** Grants the function's own role access to connections, whose ARNs contain no tenant. */
  FunctionWithRoles connections(WebSocket webSocket, String... methods) {
    own.addToPolicy(
        Policies.statement(
                Stream.of(methods).map(webSocket::connectionsArn).toList(),
                "execute-api",
                "ManageConnections")
            .build());
    Policies.accept(
        own,
        RegexAppliesTo.builder()
            .regex("/^Resource::.*\\/(" + String.join("|", methods) + ")\\/@connections\\/\\*$/")
            .build(),
        "API Gateway assigns an id to each connection when it opens, so the policy cannot name "
            + "connections. The grant covers the used methods on one stage of this API.");
    return variable("WEBSOCKET_URL", webSocket.url());
  }

  /**
   * Grants the function's own role the credentials that its instances share, and no other
   * function's.
   */
  FunctionWithRoles sharesCredentials(Table credentials) {
    own.addToPolicy(
        Policies.statement(
                List.of(credentials.getTableArn()), "dynamodb", "GetItem", "PutItem", "UpdateItem")
            .conditions(
                Policies.inOrder(
                    Map.of(
                        "ForAllValues:StringLike",
                        Map.of("dynamodb:LeadingKeys", tenant().credentialKeys()),
                        // ForAllValues also matches a request without any leading key.
                        "Null",
                        Map.of("dynamodb:LeadingKeys", "false"))))
            .build());
    return variable(credentials);
  }

  /** See {@link TenantRole#rows}. */
  FunctionWithRoles tenantRows(Table table, String... actions) {
    return withVariables(tenant().rows(table, actions));
  }

  /** See {@link TenantRole#writes}. */
  FunctionWithRoles tenantWrites(Table limit, String action, LimitAttributes... attributes) {
    return withVariables(tenant().writes(limit, action, attributes));
  }

  /** See {@link TenantRole#buckets}. */
  FunctionWithRoles tenantBuckets(String... actions) {
    return withVariables(tenant().buckets(actions));
  }

  /** See {@link TenantRole#schedules}. */
  FunctionWithRoles tenantSchedules(Schedules schedules, String... actions) {
    return withVariables(tenant().schedules(schedules, actions));
  }

  /** Grants the function's own role the right to invoke the token producer, which wakes buckets. */
  FunctionWithRoles requestsFills(FunctionWithRoles tokenProducer) {
    String arn = tokenProducer.live().getFunctionArn();
    return own(List.of(arn), "lambda", "InvokeFunction").variable("TOKEN_PRODUCER_ARN", arn);
  }

  /** Grants the function's own role the right to invoke the application's function. */
  FunctionWithRoles forwardsTo(IFunction application) {
    String arn = application.getFunctionArn();
    return own(List.of(arn), "lambda", "InvokeFunction").variable("APPLICATION_FUNCTION_ARN", arn);
  }

  /**
   * Grants the function's own role the right to invoke the function itself. The grant is a policy
   * of its own, on which the function does not depend: it refers to the function.
   */
  FunctionWithRoles invokesItself() {
    Policy.Builder.create(this, "InvokesItself")
        .statements(
            List.of(
                Policies.statement(List.of(live.getFunctionArn()), "lambda", "InvokeFunction")
                    .build()))
        .roles(List.of(own))
        .build();
    return this;
  }

  /** See {@link TenantRole#silo}. */
  FunctionWithRoles tenantSilo(MessageQueues messages) {
    return withVariables(tenant().silo(messages));
  }

  /** Lets the function look at the dead letters of a tenant's silo, and send them to its queue. */
  FunctionWithRoles tenantSiloRedrive(MessageQueues messages) {
    return withVariables(tenant().siloRedrive(messages));
  }

  private TenantRole tenant() {
    return tenant.orElseThrow();
  }

  private FunctionWithRoles withVariables(TenantRole role) {
    role.variables().forEach(function::addEnvironment);
    return this;
  }

  /** Reserves concurrency for the function, which is then also its maximum. */
  FunctionWithRoles concurrency(OptionalInt reserved) {
    CfnFunction resource = (CfnFunction) function.getNode().findChild("Resource");
    reserved.ifPresent(resource::setReservedConcurrentExecutions);
    return this;
  }

  /**
   * Lets the function record traces in AWS X-Ray, and Lambda decide which invocations are sampled.
   *
   * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/services-xray.html">Visualize Lambda
   *     function invocations using AWS X-Ray</a>
   */
  FunctionWithRoles traced() {
    CfnFunction resource = (CfnFunction) function.getNode().findChild("Resource");
    resource.setTracingConfig(CfnFunction.TracingConfigProperty.builder().mode("Active").build());
    own(List.of("*"), "xray", "PutTraceSegments", "PutTelemetryRecords");
    accept(
        "Resource::*",
        "X-Ray supports no resource-level permissions for PutTraceSegments and "
            + "PutTelemetryRecords, which only add traces.");
    return variable("TRACING", "on");
  }

  /**
   * Lets the function send messages to the queue that invokes it, as often as it wants. Lambda
   * otherwise stops such a loop at its 16th invocation.
   *
   * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-recursion.html">Lambda
   *     recursive loop detection</a>
   */
  FunctionWithRoles continuesByMessages() {
    CfnFunction resource = (CfnFunction) function.getNode().findChild("Resource");
    resource.setRecursiveLoop("Allow");
    return this;
  }

  /** Sets an environment variable. */
  FunctionWithRoles variable(String name, String value) {
    function.addEnvironment(name, value);
    return this;
  }

  private FunctionWithRoles variable(Table table) {
    return variable(Tables.variable(table), table.getTableName());
  }
}
