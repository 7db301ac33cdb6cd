package dev.tollgate.local.template;

import java.time.InstantSource;
import java.util.Optional;

/**
 * The account, region and clock of a local cloud, and the name of its stack. Every part of the
 * cloud takes them from here.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/pseudo-parameter-reference.html">Pseudo
 *     parameters</a>
 */
public record Environment(String accountId, String region, String stackName, InstantSource clock) {
  private static final String ACCOUNT = "000000000000";
  private static final String REGION = "us-east-1";

  /** The environment of a local stack. */
  public static Environment of(String stackName, InstantSource clock) {
    return new Environment(ACCOUNT, REGION, stackName, clock);
  }

  /** The value of a pseudo parameter other than {@code AWS::NoValue}, if it is known. */
  Optional<String> pseudoParameter(String name) {
    return switch (name) {
      case "AWS::AccountId" -> Optional.of(accountId);
      case "AWS::Partition" -> Optional.of("aws");
      case "AWS::Region" -> Optional.of(region);
      case "AWS::StackId" -> Optional.of(arn("cloudformation", "stack/" + stackName + "/local"));
      case "AWS::StackName" -> Optional.of(stackName);
      case "AWS::URLSuffix" -> Optional.of("amazonaws.com");
      default -> Optional.empty();
    };
  }

  /** The ARN of a resource of a service that has no regions, such as IAM. */
  public String globalArn(String service, String resource) {
    return "arn:aws:" + service + "::" + accountId + ":" + resource;
  }

  /** The ARN of a resource in this account and region. */
  public String arn(String service, String resource) {
    return "arn:aws:" + service + ":" + region + ":" + accountId + ":" + resource;
  }

  /**
   * The URL of a queue, such as {@code https://sqs.us-east-1.amazonaws.com/000000000000/jobs}.
   *
   * @param arn the queue's ARN
   */
  public static String queueUrl(String arn) {
    String[] parts = arn.split(":", -1);
    return "https://sqs.%s.amazonaws.com/%s/%s".formatted(parts[3], parts[4], parts[5]);
  }

  /** The name of the queue that a URL, a path or an ARN ends with. */
  public static String queueName(String urlOrArn) {
    return urlOrArn.substring(Math.max(urlOrArn.lastIndexOf('/'), urlOrArn.lastIndexOf(':')) + 1);
  }
}
