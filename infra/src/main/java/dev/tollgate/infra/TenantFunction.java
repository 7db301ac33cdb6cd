package dev.tollgate.infra;

import io.github.cdklabs.cdknag.RegexAppliesTo;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import software.amazon.awscdk.Annotations;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.ServicePrincipal;
import software.amazon.awscdk.services.lambda.Alias;
import software.amazon.awscdk.services.lambda.Architecture;
import software.amazon.awscdk.services.lambda.CfnEventSourceMapping;
import software.amazon.awscdk.services.lambda.CfnFunction;
import software.amazon.awscdk.services.lambda.Code;
import software.amazon.awscdk.services.lambda.Function;
import software.amazon.awscdk.services.lambda.Runtime;
import software.amazon.awscdk.services.lambda.SnapStartConf;
import software.amazon.awscdk.services.logs.LogGroup;
import software.constructs.Construct;

/**
 * A function with two roles: the one it runs as, and the one it assumes to touch what belongs to
 * one tenant.
 *
 * <p>A grant also gives the function the environment variables that name what was granted.
 */
final class TenantFunction extends Construct {
  private final Role own;
  private final TenantRole tenant;
  private final Function function;
  private final Alias live;

  TenantFunction(
      Construct scope,
      String id,
      TollgateProps props,
      Path jar,
      String handler,
      Duration timeout,
      int memoryMb,
      String description) {
    super(scope, id);
    LogGroup log =
        LogGroup.Builder.create(this, "Log")
            .retention(props.logRetention())
            .removalPolicy(props.removalPolicy())
            .build();
    own =
        Role.Builder.create(this, "Role")
            .assumedBy(new ServicePrincipal("lambda.amazonaws.com"))
            .description("What " + id + " may do by itself.")
            .build();
    tenant = new TenantRole(this, "TenantRole", props, id, own);
    function =
        Function.Builder.create(this, "Function")
            .description(description)
            .code(Code.fromAsset(jar.toString()))
            .handler(handler)
            // The newest that Lambda offers; the code itself needs 17.
            .runtime(Runtime.JAVA_25)
            .architecture(Architecture.ARM_64)
            .snapStart(SnapStartConf.ON_PUBLISHED_VERSIONS)
            .memorySize(memoryMb)
            .timeout(timeout)
            .role(own)
            .logGroup(log)
            .environment(tenant.variables())
            .build();
    Annotations.of(function)
        .acknowledgeWarning(
            "@aws-cdk/aws-lambda:snapStartRequirePublish", "The alias is of a published version.");
    log.grantWrite(own);
    live =
        Alias.Builder.create(this, "Alias")
            .aliasName("live")
            .version(function.getCurrentVersion())
            .build();
  }

  /** What callers invoke: SnapStart works for published versions only. */
  Alias live() {
    return live;
  }

  /** The role that it runs as. */
  Role role() {
    return own;
  }

  /** All that is ever published of it. */
  String versionsArn() {
    return function.getFunctionArn() + ":*";
  }

  /** What was published last. */
  String versionArn() {
    return function.getCurrentVersion().getFunctionArn();
  }

  /**
   * Lets events of a source invoke the function, once its role may read them.
   *
   * @param settings everything but the function
   */
  TenantFunction consumes(String id, UnaryOperator<CfnEventSourceMapping.Builder> settings) {
    CfnEventSourceMapping mapping =
        settings
            .apply(
                CfnEventSourceMapping.Builder.create(this, id + "Events")
                    .functionName(live.getFunctionArn()))
            .build();
    mapping.getNode().addDependency(own.getNode().findChild("DefaultPolicy"));
    return this;
  }

  /** Rows of all tenants, with the function's own role. */
  TenantFunction ownRows(Table table, String... actions) {
    own.addToPolicy(Policies.statement(List.of(table.getTableArn()), "dynamodb", actions).build());
    return variable(table);
  }

  /** Rows of all tenants by way of an index, with the function's own role. */
  TenantFunction ownIndex(Table table, String index, String... actions) {
    own.addToPolicy(
        Policies.statement(List.of(table.getTableArn() + "/index/" + index), "dynamodb", actions)
            .build());
    return variable(table);
  }

  /** Anything else, with the function's own role. */
  TenantFunction own(List<String> resources, String service, String... actions) {
    own.addToPolicy(Policies.statement(resources, service, actions).build());
    return this;
  }

  /** Tells cdk-nag why the function's own role is granted something with a star. */
  TenantFunction accept(Object finding, String reason) {
    Policies.accept(own, finding, reason);
    return this;
  }

  /** The schedules of shards, with the function's own role: they are no single tenant's. */
  TenantFunction shardSchedules(Filling filling, String... actions) {
    own.addToPolicy(
        Policies.statement(
                List.of(Policies.arn(own, "scheduler", filling.shards())), "scheduler", actions)
            .build());
    Policies.accept(
        own,
        Policies.finding("scheduler", filling.shards()),
        "The star is the number of a shard. The grant is held to the stack's own group.");
    own.addToPolicy(filling.passingOfItsRole());
    return this;
  }

  /** Connections of the WebSocket API, with the function's own role: they bear no tenant's name. */
  TenantFunction connections(WebSocket webSocket, String... methods) {
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
        "API Gateway gives connections their ids when they open, so none can be named here. The "
            + "grant is held to the methods used, on one stage of this API.");
    return variable("WEBSOCKET_URL", webSocket.url());
  }

  /** See {@link TenantRole#rows}. */
  TenantFunction tenantRows(Table table, String... actions) {
    return told(tenant.rows(table, actions));
  }

  /** See {@link TenantRole#writes}. */
  TenantFunction tenantWrites(Table limit, String action, LimitAttributes... attributes) {
    return told(tenant.writes(limit, action, attributes));
  }

  /** See {@link TenantRole#buckets}. */
  TenantFunction tenantBuckets(String... actions) {
    return told(tenant.buckets(actions));
  }

  /** See {@link TenantRole#schedules}. */
  TenantFunction tenantSchedules(Filling filling, String... actions) {
    return told(tenant.schedules(filling, actions));
  }

  /** Waking buckets, by the function that fills them; with the function's own role. */
  TenantFunction requestsFills(TenantFunction tokenProducer) {
    String arn = tokenProducer.live().getFunctionArn();
    return own(List.of(arn), "lambda", "InvokeFunction").variable("TOKEN_PRODUCER_ARN", arn);
  }

  /** See {@link TenantRole#silo}. */
  TenantFunction tenantSilo(Messages messages) {
    return told(tenant.silo(messages));
  }

  private TenantFunction told(TenantRole role) {
    role.variables().forEach(function::addEnvironment);
    return this;
  }

  /** Reserves concurrency of the account's for the function, which then has no more than that. */
  TenantFunction concurrency(OptionalInt reserved) {
    CfnFunction resource = (CfnFunction) function.getNode().findChild("Resource");
    reserved.ifPresent(resource::setReservedConcurrentExecutions);
    return this;
  }

  /** Tells the function something more. */
  TenantFunction variable(String name, String value) {
    function.addEnvironment(name, value);
    return this;
  }

  private TenantFunction variable(Table table) {
    return variable(Tables.variable(table), table.getTableName());
  }
}
