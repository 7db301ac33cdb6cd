package dev.tollgate.local.iam;

import dev.tollgate.local.template.TemplateException;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A condition of a statement: compares a key's values with the values in the policy.
 *
 * @param every whether it stands for all of a key's values, for any, or for the one that it has
 * @param ifExists whether it holds when the key is absent
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html">Condition
 *     operators</a>
 */
record Condition(String every, String operator, boolean ifExists, String key, List<Glob> expected) {
  private static final Pattern OPERATOR =
      Pattern.compile(
          "(ForAllValues:|ForAnyValue:|)(String(?:Not)?(?:Equals|Like)|Arn(?:Equals|Like)|Bool|Null)"
              + "(IfExists)?");

  /** The supported condition keys. No request has a value for another key. */
  private static final Pattern KNOWN_KEY =
      Pattern.compile(
          "aws:(PrincipalArn|PrincipalTag/.+|RequestTag/.+|SecureTransport|SourceAccount|SourceArn|TagKeys)"
              + "|dynamodb:(Attributes|LeadingKeys)|iam:PassedToService|lambda:FunctionArn",
          Pattern.CASE_INSENSITIVE);

  /**
   * Reads a condition.
   *
   * @param operator as a policy has it, such as {@code ForAllValues:StringEquals}
   * @throws TemplateException if the operator or the key is not known here
   */
  static Condition of(String operator, String key, List<String> expected, String place) {
    Matcher parts = OPERATOR.matcher(operator);
    if (!parts.matches()) {
      throw new TemplateException(place, "unknown condition operator " + operator);
    }
    if (!KNOWN_KEY.matcher(key).matches()) {
      throw new TemplateException(place, "unknown condition key " + key);
    }
    return new Condition(
        parts.group(1),
        parts.group(2),
        parts.group(3) != null,
        key,
        expected.stream().map(Glob::new).toList());
  }

  /** Whether it holds for a request. A value must be like one expected, or, negated, like none. */
  boolean holds(Context context) {
    List<String> values = context.values(key);
    if (operator.equals("Null")) {
      return expected.stream().allMatch(e -> e.text().equals("true") == values.isEmpty());
    }
    boolean negated = operator.contains("Not");
    if (values.isEmpty()) {
      return ifExists || negated || every.equals("ForAllValues:");
    }
    Predicate<String> holds =
        value -> negated != expected.stream().anyMatch(one -> compares(value, one, context));
    return switch (every) {
      case "ForAllValues:" -> values.stream().allMatch(holds);
      case "ForAnyValue:" -> values.stream().anyMatch(holds);
      default -> values.size() == 1 && holds.test(values.get(0));
    };
  }

  private boolean compares(String value, Glob expected, Context context) {
    return switch (operator) {
      case "StringEquals", "StringNotEquals" -> expected.equals(value, context);
      case "StringLike", "StringNotLike" -> expected.matches(value, context);
      case "Bool" -> expected.text().equalsIgnoreCase(value);
      default -> expected.matchesArn(value, context);
    };
  }
}
