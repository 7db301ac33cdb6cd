package dev.tollgate.local.iam;

import dev.tollgate.local.template.TemplateException;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A condition of a statement: compares the values of a key with the expected values.
 *
 * @param quantifier {@code ForAllValues:}, {@code ForAnyValue:}, or empty if the key must have
 *     exactly one value
 * @param ifExists whether the condition holds when the key is absent; with {@code ForAnyValue:} it
 *     does not hold even so
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html">Condition
 *     operators</a>
 */
record Condition(
    String quantifier, String operator, boolean ifExists, String key, List<Glob> expected) {
  private static final Pattern OPERATOR =
      Pattern.compile(
          "(ForAllValues:|ForAnyValue:|)(String(?:Not)?(?:Equals|Like)|Arn(?:Equals|Like)|Bool|DateLessThan|Null)"
              + "(IfExists)?");

  /** The supported condition keys. No request has a value for another key. */
  private static final Pattern KNOWN_KEY =
      Pattern.compile(
          "aws:(PrincipalArn|PrincipalTag/.+|RequestTag/.+|SecureTransport|SourceAccount|SourceArn|TagKeys|TokenIssueTime)"
              + "|dynamodb:(Attributes|LeadingKeys)|iam:PassedToService|lambda:FunctionArn",
          Pattern.CASE_INSENSITIVE);

  /**
   * Reads a condition.
   *
   * @param operator the operator with its quantifier, such as {@code ForAllValues:StringEquals}
   * @throws TemplateException if the operator or the key is not supported
   */
  static Condition of(String operator, String key, List<String> expected, String place) {
    Matcher parts = OPERATOR.matcher(operator);
    if (!parts.matches()) {
      throw new TemplateException(place, "unknown condition operator " + operator);
    }
    if (!KNOWN_KEY.matcher(key).matches()) {
      throw new TemplateException(place, "unknown condition key " + key);
    }
    if (parts.group(2).equals("DateLessThan")) {
      expected.forEach(time -> checkTime(time, place));
    }
    return new Condition(
        parts.group(1),
        parts.group(2),
        parts.group(3) != null,
        key,
        expected.stream().map(Glob::new).toList());
  }

  private static void checkTime(String time, String place) {
    try {
      Instant.parse(time);
    } catch (DateTimeParseException e) {
      throw new TemplateException(place, "time: " + time + " (expected: 2026-11-27T12:00:00Z)");
    }
  }

  /**
   * Whether the condition holds for a request. A negated operator requires that no value matches.
   */
  boolean holds(Context context) {
    List<String> values = context.values(key);
    if (operator.equals("Null")) {
      return expected.stream().allMatch(e -> e.text().equals("true") == values.isEmpty());
    }
    boolean negated = operator.contains("Not");
    if (values.isEmpty()) {
      return switch (quantifier) {
        case "ForAllValues:" -> true;
        case "ForAnyValue:" -> false;
        default -> ifExists || negated;
      };
    }
    Predicate<String> holds =
        value -> negated != expected.stream().anyMatch(one -> compares(value, one, context));
    return switch (quantifier) {
      case "ForAllValues:" -> values.stream().allMatch(holds);
      case "ForAnyValue:" -> values.stream().anyMatch(holds);
      default -> values.size() == 1 && holds.test(values.get(0));
    };
  }

  private boolean compares(String value, Glob expected, Context context) {
    return switch (operator) {
      case "StringEquals", "StringNotEquals" -> expected.equals(value, context);
      case "StringLike", "StringNotLike" -> expected.matches(value, context);
      case "DateLessThan" -> Instant.parse(value).isBefore(Instant.parse(expected.text()));
      case "Bool" -> expected.text().equalsIgnoreCase(value);
      default -> expected.matchesArn(value, context);
    };
  }
}
