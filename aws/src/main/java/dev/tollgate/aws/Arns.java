package dev.tollgate.aws;

import dev.tollgate.core.InvalidValue;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Builds ARNs of one account and region.
 *
 * @param partition the AWS partition, such as {@code aws}
 * @param region the region
 * @param account the account id
 */
public record Arns(String partition, String region, String account) {
  private static final Pattern FUNCTION_VERSION =
      Pattern.compile("arn:([a-z0-9-]+):lambda:([a-z0-9-]+):([0-9]{12}):function:[^:]+:[0-9]+");

  /**
   * The account and region of a function.
   *
   * @param functionArn the ARN of a published version
   * @throws InvalidValue if it is anything else
   */
  public static Arns beside(String functionArn) {
    Matcher parts = FUNCTION_VERSION.matcher(functionArn);
    InvalidValue.unless(
        parts.matches(),
        "PROCESSOR_FUNCTION_ARN",
        functionArn,
        "a published version of a function");
    return new Arns(parts.group(1), parts.group(2), parts.group(3));
  }

  /** The ARN of the queue of this name. */
  public String queue(String name) {
    return arn("sqs", name);
  }

  /** The ARN of the DynamoDB table of this name. */
  public String table(String name) {
    return arn("dynamodb", "table/" + name);
  }

  private String arn(String service, String resource) {
    return "arn:" + partition + ":" + service + ":" + region + ":" + account + ":" + resource;
  }
}
