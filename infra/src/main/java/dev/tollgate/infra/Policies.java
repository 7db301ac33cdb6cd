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
import software.amazon.awscdk.Stack;
import software.amazon.awscdk.services.iam.PolicyStatement;
import software.amazon.awscdk.services.iam.Role;
import software.constructs.Construct;

/** What the policies of all roles are written with. */
final class Policies {
  private Policies() {}

  /** A statement on some resources, of actions that are named without their service. */
  static PolicyStatement.Builder statement(
      List<String> resources, String service, String... actions) {
    return PolicyStatement.Builder.create()
        .actions(Stream.of(actions).map(action -> service + ":" + action).toList())
        .resources(resources);
  }

  /**
   * The map in a fixed order: that of {@link Map#of} changes from run to run, and with it the
   * template.
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

  /** How cdk-nag words a finding on the ARN that {@link #arn} makes. */
  static String finding(String service, String resource) {
    return "Resource::arn:<AWS::Partition>:"
        + service
        + ":<AWS::Region>:<AWS::AccountId>:"
        + resource.replace("${", "<").replace('}', '>');
  }

  /** Tells cdk-nag why a role is granted something with a star. */
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
