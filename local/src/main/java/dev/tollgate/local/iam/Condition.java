package dev.tollgate.local.iam;

import dev.tollgate.local.template.TemplateException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
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
record Condition(
    Quantity every, Operator operator, boolean ifExists, String key, List<Glob> expected) {
  private static final String IF_EXISTS = "IfExists";

  /** The supported condition keys. No request has a value for another key. */
  private static final Pattern KNOWN_KEY =
      Pattern.compile(
          "aws:(PrincipalArn|PrincipalTag/.+|RequestTag/.+|SecureTransport|SourceAccount|SourceArn|TagKeys)"
              + "|dynamodb:(Attributes|LeadingKeys)|iam:PassedToService|lambda:FunctionArn",
          Pattern.CASE_INSENSITIVE);

  /** For how many of a key's values a comparison is to hold. */
  enum Quantity {
    THE_ONE(""),
    ALL("ForAllValues:"),
    ANY("ForAnyValue:");

    private final String prefix;

    Quantity(String prefix) {
      this.prefix = prefix;
    }
  }

  /** How a value is compared. */
  enum Operator {
    STRING_EQUALS("StringEquals", false),
    STRING_NOT_EQUALS("StringNotEquals", true),
    STRING_LIKE("StringLike", false),
    STRING_NOT_LIKE("StringNotLike", true),
    ARN_EQUALS("ArnEquals", false),
    ARN_LIKE("ArnLike", false),
    BOOL("Bool", false),
    NULL("Null", false);

    private final String text;
    private final boolean negated;

    Operator(String text, boolean negated) {
      this.text = text;
      this.negated = negated;
    }

    private boolean compares(String value, Glob expected, Context context) {
      return switch (this) {
        case STRING_EQUALS, STRING_NOT_EQUALS -> expected.equals(value, context);
        case STRING_LIKE, STRING_NOT_LIKE -> expected.matches(value, context);
        case ARN_EQUALS, ARN_LIKE -> expected.matchesArn(value, context);
        case BOOL -> expected.text().equalsIgnoreCase(value);
        case NULL -> throw new IllegalStateException("Null compares no value");
      };
    }
  }

  /**
   * Reads a condition.
   *
   * @param operator as a policy has it, such as {@code ForAllValues:StringEquals}
   * @throws TemplateException if the operator or the key is not known here
   */
  static Condition of(String operator, String key, List<String> expected, String place) {
    Quantity every =
        operator.startsWith(Quantity.ALL.prefix)
            ? Quantity.ALL
            : operator.startsWith(Quantity.ANY.prefix) ? Quantity.ANY : Quantity.THE_ONE;
    String rest = operator.substring(every.prefix.length());
    boolean ifExists = rest.endsWith(IF_EXISTS);
    String name = ifExists ? rest.substring(0, rest.length() - IF_EXISTS.length()) : rest;
    Optional<Operator> known =
        Arrays.stream(Operator.values()).filter(one -> one.text.equals(name)).findFirst();
    if (known.isEmpty()) {
      throw new TemplateException(place, "unknown condition operator " + operator);
    }
    if (!KNOWN_KEY.matcher(key).matches()) {
      throw new TemplateException(place, "unknown condition key " + key);
    }
    return new Condition(
        every, known.get(), ifExists, key, expected.stream().map(Glob::new).toList());
  }

  /** Whether it holds for a request. */
  boolean holds(Context context) {
    List<String> values = context.values(key);
    if (operator == Operator.NULL) {
      return expected.stream().allMatch(e -> e.text().equals("true") == values.isEmpty());
    }
    if (values.isEmpty()) {
      return ifExists || operator.negated || every == Quantity.ALL;
    }
    return switch (every) {
      case THE_ONE -> values.size() == 1 && holds(values.get(0), context);
      case ALL -> values.stream().allMatch(value -> holds(value, context));
      case ANY -> values.stream().anyMatch(value -> holds(value, context));
    };
  }

  /** A value must be like one of those expected, or, negated, like none. */
  private boolean holds(String value, Context context) {
    return operator.negated
        != expected.stream().anyMatch(one -> operator.compares(value, one, context));
  }
}
