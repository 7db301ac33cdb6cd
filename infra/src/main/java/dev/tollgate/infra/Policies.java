package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Stream;
import software.amazon.awscdk.ArnComponents;
import software.amazon.awscdk.ArnFormat;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Fn;
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.iam.Effect;
import software.amazon.awscdk.services.iam.PolicyStatement;
import software.amazon.awscdk.services.iam.Role;
import software.constructs.Construct;

/** Creates IAM policy statements, ARNs and unique names. */
final class Policies {
  private Policies() {}

  /** A statement for some resources. The actions are named without the service. */
  static PolicyStatement.Builder statement(
      List<String> resources, String service, String... actions) {
    return PolicyStatement.Builder.create()
        .actions(Stream.of(actions).map(action -> service + ":" + action).toList())
        .resources(resources);
  }

  /**
   * The map in a fixed order, so that the template is reproducible. The order of {@link Map#of}
   * changes from run to run.
   */
  static SortedMap<String, Object> inOrder(Map<String, ?> map) {
    return new TreeMap<>(map);
  }

  /** An ARN of this account and Region. */
  static String arn(Construct scope, String service, String resource) {
    return Stack.of(scope)
        .formatArn(
            ArnComponents.builder()
                .service(service)
                .resource(resource)
                .arnFormat(ArnFormat.NO_RESOURCE_NAME)
                .build());
  }

  /** The UUID at the end of the stack's ARN, which no other stack has or had. */
  static String stackUuid() {
    return Fn.select(2, Fn.split("/", Aws.STACK_ID));
  }

  /**
   * Grants the buckets of all tenants of this deployment, and no other queue.
   *
   * @param prefix the deployment's name prefix, which may be empty
   * @param reason why the role needs the buckets of all tenants, for cdk-nag
   */
  static void allBuckets(Role role, String prefix, String reason, String... actions) {
    String name = prefix + "*_token_bucket";
    role.addToPolicy(statement(List.of(arn(role, "sqs", name)), "sqs", actions).build());
    if (prefix.isEmpty()) {
      // Prefixes end with an underscore; actions and tenant ids contain none.
      role.addToPolicy(
          statement(List.of(arn(role, "sqs", "*_*_" + name)), "sqs", "*")
              .effect(Effect.DENY)
              .build());
    }
    accept(
        role,
        finding("sqs", name),
        reason + " Without a prefix, a Deny excludes the buckets of other deployments.");
  }

  /** The URL prefix of the queues of this account and Region. */
  static String queueUrlPrefix() {
    return "https://sqs." + Aws.REGION + "." + Aws.URL_SUFFIX + "/" + Aws.ACCOUNT_ID + "/";
  }

  /** The text of cdk-nag's finding for an ARN of {@link #arn}. */
  static String finding(String service, String resource) {
    return "Resource::arn:<AWS::Partition>:"
        + service
        + ":<AWS::Region>:<AWS::AccountId>:"
        + resource.replace("${", "<").replace('}', '>');
  }

  /** Suppresses cdk-nag's finding for a wildcard in a role, with a reason. */
  static void accept(Role role, Object finding, String reason) {
    NagSuppressions.addResourceSuppressions(
        role.getNode().findChild("DefaultPolicy"),
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-IAM5")
                .appliesTo(List.of(finding))
                .reason(reason)
                .build()));
  }
}
