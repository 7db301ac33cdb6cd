package dev.tollgate.controlplane.doctor;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * What the statements of a table's resource policy deny. A statement counts only if it surely
 * denies an action on the table to all principals, perhaps with named exceptions; any other element
 * or condition could narrow it.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html">Policy
 *     elements</a>
 */
final class PolicyDenials {
  private static final JsonMapper JSON = new JsonMapper();
  private static final Set<String> ELEMENTS =
      Set.of(
          "Sid",
          "Effect",
          "Principal",
          "Action",
          "NotAction",
          "Resource",
          "NotResource",
          "Condition");

  /**
   * The operators whose condition holds for all principals that match none of the values, and for
   * requests without a principal. {@code ForAnyValue:} does not hold for these.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html">Condition
   *     operators</a>
   */
  private static final Pattern NOT_ONE_OF =
      Pattern.compile("(ForAllValues:)?(String|Arn)Not(Equals|Like)(IfExists)?");

  private static final int ARN_PARTS = 6;

  private final List<Denial> denials = new ArrayList<>();

  /**
   * A statement that denies.
   *
   * @param covers whether it is about an action in lower case, because IAM ignores the case
   * @param exceptions the ARNs of the principals to which it does not apply, perhaps with wildcards
   */
  private record Denial(Predicate<String> covers, Set<String> exceptions) {}

  /**
   * The denials in a policy; none if it is not JSON.
   *
   * @param table the ARN of the table
   */
  PolicyDenials(String document, String table) {
    JsonNode statements = read(document).path("Statement");
    for (JsonNode statement : statements.isArray() ? statements : List.of(statements)) {
      if (deniesToAll(statement)
          && covers(statement, "Resource", resource -> matchesArn(resource, table))) {
        exceptions(statement.path("Condition"))
            .ifPresent(
                principals ->
                    denials.add(
                        new Denial(
                            action ->
                                covers(
                                    statement,
                                    "Action",
                                    one -> matches(one.toLowerCase(Locale.ROOT), action)),
                            principals)));
      }
    }
  }

  /**
   * The principals that may use an action although the policy denies it to others: those that are
   * exceptions in each denial of the action. Empty if no statement denies the action.
   */
  Optional<Set<String>> exceptions(String action) {
    String lowerCase = action.toLowerCase(Locale.ROOT);
    return denials.stream()
        .filter(denial -> denial.covers().test(lowerCase))
        .map(Denial::exceptions)
        .reduce(PolicyDenials::both);
  }

  /** What may match both sets. Two values with wildcards may match the same principal. */
  private static Set<String> both(Set<String> some, Set<String> others) {
    Set<String> both = new HashSet<>();
    for (String one : some) {
      for (String other : others) {
        boolean matchesOther = matches(other, one);
        boolean matchedByOther = matches(one, other);
        boolean wildcards = hasWildcard(one) && hasWildcard(other);
        if (matchesOther || wildcards) {
          both.add(one);
        }
        if (matchedByOther || wildcards) {
          both.add(other);
        }
      }
    }
    return both;
  }

  private static JsonNode read(String document) {
    try {
      return JSON.readTree(document);
    } catch (JsonProcessingException malformed) {
      return JSON.missingNode();
    }
  }

  private static boolean deniesToAll(JsonNode statement) {
    JsonNode principal = statement.path("Principal");
    return statement.isObject()
        && statement.properties().stream().allMatch(one -> ELEMENTS.contains(one.getKey()))
        && statement.path("Effect").asText().equals("Deny")
        && texts(principal.isObject() ? principal.path("AWS") : principal).contains("*");
  }

  /** Whether an element has a matching value, or its negation has values and none matches. */
  private static boolean covers(JsonNode statement, String element, Predicate<String> matches) {
    List<String> named = texts(statement.path(element));
    List<String> excluded = texts(statement.path("Not" + element));
    return statement.has(element)
        ? !statement.has("Not" + element) && named.stream().anyMatch(matches)
        : !excluded.isEmpty() && excluded.stream().noneMatch(matches);
  }

  /**
   * The exceptions of a condition. Empty if the condition is not understood. A value with a policy
   * variable could be the name of every principal.
   */
  private static Optional<Set<String>> exceptions(JsonNode condition) {
    if (condition.isMissingNode() || (condition.isObject() && condition.isEmpty())) {
      return Optional.of(Set.of());
    }
    if (condition.size() != 1) {
      return Optional.empty();
    }
    var operator = condition.properties().iterator().next();
    if (!NOT_ONE_OF.matcher(operator.getKey()).matches() || operator.getValue().size() != 1) {
      return Optional.empty();
    }
    var key = operator.getValue().properties().iterator().next();
    List<String> principals = texts(key.getValue());
    return key.getKey().equalsIgnoreCase("aws:PrincipalArn")
            && !principals.isEmpty()
            && principals.stream().noneMatch(one -> one.contains("${"))
        ? Optional.of(Set.copyOf(principals))
        : Optional.empty();
  }

  /** The text of an element, or each text of a list; none if it is anything else. */
  private static List<String> texts(JsonNode oneOrMore) {
    if (oneOrMore.isTextual()) {
      return List.of(oneOrMore.textValue());
    }
    List<String> texts = new ArrayList<>();
    for (JsonNode one : oneOrMore.isArray() ? oneOrMore : List.<JsonNode>of()) {
      if (!one.isTextual()) {
        return List.of();
      }
      texts.add(one.textValue());
    }
    return texts;
  }

  private static boolean hasWildcard(String text) {
    return text.contains("*") || text.contains("?");
  }

  /**
   * Whether a pattern matches an ARN. A wildcard matches within one part, and a pattern without the
   * last parts matches any.
   */
  private static boolean matchesArn(String pattern, String arn) {
    String[] patterns = pattern.split(":", ARN_PARTS);
    String[] parts = arn.split(":", ARN_PARTS);
    if (parts.length < patterns.length) {
      return false;
    }
    for (int i = 0; i < patterns.length; i++) {
      if (!matches(patterns[i], parts[i])) {
        return false;
      }
    }
    return patterns.length == ARN_PARTS || pattern.endsWith("*");
  }

  /**
   * Whether a pattern with the wildcards {@code *} and {@code ?} matches a text. It never tries
   * more than the two lengths together allow, whatever the pattern is: a report that takes too long
   * would hide a finding.
   */
  private static boolean matches(String pattern, String text) {
    int at = 0;
    int star = -1;
    int resume = 0;
    int i = 0;
    while (i < text.length()) {
      char wanted = at < pattern.length() ? pattern.charAt(at) : '\0';
      if (at < pattern.length() && wanted == '*') {
        star = at++;
        resume = i;
      } else if (at < pattern.length() && (wanted == '?' || wanted == text.charAt(i))) {
        at++;
        i++;
      } else if (star >= 0) {
        at = star + 1;
        i = ++resume;
      } else {
        return false;
      }
    }
    while (at < pattern.length() && pattern.charAt(at) == '*') {
      at++;
    }
    return at == pattern.length();
  }
}
