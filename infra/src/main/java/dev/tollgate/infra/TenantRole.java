package dev.tollgate.infra;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.iam.Effect;
import software.amazon.awscdk.services.iam.Grant;
import software.amazon.awscdk.services.iam.GrantOnPrincipalOptions;
import software.amazon.awscdk.services.iam.IGrantable;
import software.amazon.awscdk.services.iam.PrincipalBase;
import software.amazon.awscdk.services.iam.PrincipalWithConditions;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.iam.SessionTagsPrincipal;
import software.constructs.Construct;

/**
 * A role that a principal assumes to access the resources of one tenant.
 *
 * <p>It is assumed with the session tag {@code tenantId}. Each grant applies only to the tenant in
 * the tag: to rows by their partition key, to queues and schedules by their names. The principal
 * needs the environment variables with the names of the role and of the granted resources.
 */
final class TenantRole {
  /** A policy variable, which IAM replaces. */
  private static final String TENANT_ID = "${aws:PrincipalTag/tenantId}";

  private final String prefix;
  private final Role role;
  private final SortedMap<String, String> variables = new TreeMap<>();

  /**
   * Creates the role, which {@code first} may assume.
   *
   * @param who the principal, for the role's description
   */
  TenantRole(Construct scope, String id, TollgateProps props, String who, IGrantable first) {
    prefix = props.prefix();
    role =
        Role.Builder.create(scope, id)
            .assumedBy(forOneTenant(first))
            .description("The role that " + who + " assumes for the tenant in its session tag.")
            .build();
    variables.put("TENANT_ROLE_ARN", role.getRoleArn());
    mayAssume(first);
  }

  /** Allows another principal to assume the role. */
  TenantRole assumedBy(IGrantable grantee) {
    forOneTenant(grantee).addToAssumeRolePolicy(role.getAssumeRolePolicy());
    mayAssume(grantee);
    return this;
  }

  /** Grants the tenant's rows. {@code Scan} has no leading key, so it cannot be granted here. */
  TenantRole rows(Table table, String... actions) {
    if (List.of(actions).contains("Scan")) {
      throw new IllegalArgumentException("actions: Scan (expected: actions that name a key)");
    }
    role.addToPolicy(
        Policies.statement(List.of(table.getTableArn()), "dynamodb", actions)
            .conditions(
                Policies.inOrder(
                    Map.of(
                        "ForAllValues:StringEquals", Map.of("dynamodb:LeadingKeys", TENANT_ID),
                        // ForAllValues also matches a request without any leading key.
                        "Null", Map.of("dynamodb:LeadingKeys", "false"))))
            .build());
    variables.put(Tables.variable(table), table.getTableName());
    return this;
  }

  /**
   * Grants writes to the tenant's rows in the Limit table that name only the given attributes.
   *
   * @param action an action with attribute conditions: {@code UpdateItem} or {@code BatchWriteItem}
   */
  TenantRole writes(Table limit, String action, LimitAttributes... attributes) {
    role.addToPolicy(
        Policies.statement(List.of(limit.getTableArn()), "dynamodb", action)
            .conditions(writesOf(TENANT_ID, attributes))
            .build());
    variables.put(Tables.variable(limit), limit.getTableName());
    return this;
  }

  /** The conditions of a write that names only the given attributes of a tenant's rows. */
  static SortedMap<String, Object> writesOf(String tenantId, LimitAttributes... attributes) {
    return Policies.inOrder(
        Map.of(
            "ForAllValues:StringEquals",
            Map.of("dynamodb:LeadingKeys", tenantId),
            "ForAllValues:StringLike",
            Map.of("dynamodb:Attributes", LimitAttributes.namesIn(attributes)),
            "Null",
            Policies.inOrder(
                Map.of("dynamodb:LeadingKeys", "false", "dynamodb:Attributes", "false"))));
  }

  /** Grants the queues of the tenant's buckets. */
  TenantRole buckets(String... actions) {
    String name = prefix + "*_" + TENANT_ID + "_token_bucket";
    role.addToPolicy(Policies.statement(List.of(arn("sqs", name)), "sqs", actions).build());
    Policies.accept(
        role,
        Policies.finding("sqs", name),
        "The wildcard stands for a bucket's action, which users define. Actions and tenant ids "
            + "contain no underscore. So with a prefix the pattern matches only queues of the "
            + "tagged tenant in this deployment. Without a prefix, a Deny excludes the queues of "
            + "deployments with a prefix.");
    if (prefix.isEmpty()) {
      role.addToPolicy(
          Policies.statement(List.of(arn("sqs", "*_" + name)), "sqs", "*")
              .effect(Effect.DENY)
              .build());
    } else {
      variables.put("NAME_PREFIX", prefix);
    }
    variables.put("QUEUE_URL_PREFIX", Policies.queueUrlPrefix());
    return this;
  }

  /** Grants the schedules of the tenant's buckets. */
  TenantRole schedules(Schedules schedules, String... actions) {
    String name = schedules.bucketsOf(TENANT_ID);
    role.addToPolicy(
        Policies.statement(List.of(arn("scheduler", name)), "scheduler", actions).build());
    Policies.accept(
        role,
        Policies.finding("scheduler", name),
        "The wildcard stands for a bucket's action, which users define. The grant covers only the "
            + "stack's own group and names that end with the tagged tenant.");
    role.addToPolicy(schedules.passRole());
    variables.putAll(schedules.variables());
    return this;
  }

  /** Adds an environment variable. */
  TenantRole variable(String name, String value) {
    variables.put(name, value);
    return this;
  }

  /** Adds what a redrive needs beyond {@link #silo}: to send to the queue and to give back. */
  TenantRole siloRedrive(MessageQueues messages) {
    String name = messages.silo(TENANT_ID);
    role.addToPolicy(
        Policies.statement(List.of(arn("sqs", name + ".fifo")), "sqs", "SendMessage").build());
    role.addToPolicy(
        Policies.statement(
                List.of(arn("sqs", name + "_dead.fifo")), "sqs", "ChangeMessageVisibility")
            .build());
    return this;
  }

  /**
   * Grants the tenant's own message queue with its dead-letter queue, and the function that
   * processes it, which has the pool's code and role.
   */
  TenantRole silo(MessageQueues messages) {
    String name = messages.silo(TENANT_ID);
    role.addToPolicy(
        Policies.statement(
                List.of(arn("sqs", name + ".fifo"), arn("sqs", name + "_dead.fifo")),
                "sqs",
                "CreateQueue",
                "DeleteQueue",
                "SetQueueAttributes",
                "GetQueueAttributes",
                "ReceiveMessage",
                "DeleteMessage")
            .build());
    String function = arn("lambda", "function:" + name);
    role.addToPolicy(
        Policies.statement(
                List.of(function),
                "lambda",
                "CreateFunction",
                "GetFunction",
                "UpdateFunctionCode",
                "UpdateFunctionConfiguration",
                "DeleteFunction")
            .build());
    // Lambda reads the code with the permissions of the caller of CreateFunction.
    role.addToPolicy(Policies.statement(List.of(messages.codeArn()), "s3", "GetObject").build());
    role.addToPolicy(
        Policies.statement(List.of(messages.processor().role().getRoleArn()), "iam", "PassRole")
            .conditions(
                Map.of("StringEquals", Map.of("iam:PassedToService", "lambda.amazonaws.com")))
            .build());
    Map<String, ?> ofTheFunction = Map.of("StringEquals", Map.of("lambda:FunctionArn", function));
    role.addToPolicy(
        Policies.statement(List.of("*"), "lambda", "CreateEventSourceMapping")
            .conditions(ofTheFunction)
            .build());
    role.addToPolicy(
        Policies.statement(
                List.of(arn("lambda", "event-source-mapping:*")),
                "lambda",
                "UpdateEventSourceMapping",
                "DeleteEventSourceMapping")
            .conditions(ofTheFunction)
            .build());
    for (String finding :
        List.of("Resource::*", Policies.finding("lambda", "event-source-mapping:*"))) {
      Policies.accept(
          role,
          finding,
          "AWS assigns a random id to an event source mapping when it is created, so the policy "
              + "cannot name mappings. The grants cover only mappings of the tagged tenant's "
              + "function.");
    }
    return this;
  }

  /** The pattern of the partition keys of the role's credentials in the Credentials table. */
  String credentialKeys() {
    return role.getRoleName() + "/*";
  }

  /** The environment variables that the principals need. */
  Map<String, String> variables() {
    return Collections.unmodifiableSortedMap(variables);
  }

  /**
   * Requires the tag {@code tenantId} with a single tenant and no other tag. A tenant id contains
   * no underscore; a tag with one could match the end of another deployment's queue name.
   */
  private static PrincipalBase forOneTenant(IGrantable grantee) {
    return new SessionTagsPrincipal(
        new PrincipalWithConditions(
            grantee.getGrantPrincipal(),
            Policies.inOrder(
                Map.of(
                    "StringLike", Map.of("aws:RequestTag/tenantId", "?*"),
                    "StringNotLike", Map.of("aws:RequestTag/tenantId", "*_*"),
                    "ForAllValues:StringEquals", Map.of("aws:TagKeys", "tenantId")))));
  }

  private void mayAssume(IGrantable grantee) {
    Grant.addToPrincipal(
            GrantOnPrincipalOptions.builder()
                .grantee(grantee)
                .actions(List.of("sts:AssumeRole", "sts:TagSession"))
                .resourceArns(List.of(role.getRoleArn()))
                .build())
        .assertSuccess();
  }

  private String arn(String service, String resource) {
    return Policies.arn(role, service, resource);
  }
}
