package dev.tollgate.local.template;

import java.util.Map;
import java.util.Optional;

/**
 * Where the stack runs: the values of the pseudo parameters.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html">Pseudo
 *     parameters</a>
 */
public record Environment(String accountId, String region, String stackName) {
  /** The value of a pseudo parameter other than {@code AWS::NoValue}, if there is such a one. */
  Optional<String> pseudoParameter(String name) {
    return Optional.ofNullable(
        Map.of(
                "AWS::AccountId",
                accountId,
                "AWS::Partition",
                "aws",
                "AWS::Region",
                region,
                "AWS::StackId",
                arn("cloudformation", "stack/" + stackName + "/local"),
                "AWS::StackName",
                stackName,
                "AWS::URLSuffix",
                "amazonaws.com")
            .get(name));
  }

  /** The ARN of a thing in this account and no region. */
  public String globalArn(String service, String resource) {
    return "arn:aws:" + service + "::" + accountId + ":" + resource;
  }

  /** The ARN of a thing in this account and region. */
  public String arn(String service, String resource) {
    return "arn:aws:" + service + ":" + region + ":" + accountId + ":" + resource;
  }
}
