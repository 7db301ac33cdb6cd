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
      Set.of("Sid", "Effect", "Principal", "Action", "Resource", "Condition");

  private final List<Denial> denials = new ArrayList<>();

  /**
   * A statement that denies.
   *
   * @param actions in lower case, because IAM ignores the case; perhaps with wildcards
   * @param exceptions the ARNs of the principals to which it does not apply
   */
  private record Denial(List<String> actions, Set<String> exceptions) {}

  /**
   * The denials in a policy; none if it is not JSON.
   *
   * @param table the ARN of the table
   */
  PolicyDenials(String document, String table) {
    JsonNode statements = read(document).path("Statement");
    for (JsonNode statement : statements.isArray() ? statements : List.of(statements)) {
      if (deniesToAll(statement)
          && texts(statement.path("Resource")).stream().anyMatch(one -> matches(one, table))) {
        exceptions(statement.path("Condition"))
            .ifPresent(
                principals ->
                    denials.add(
                        new Denial(
                            texts(statement.path("Action")).stream()
                                .map(action -> action.toLowerCase(Locale.ROOT))
                                .toList(),
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
        .filter(denial -> denial.actions().stream().anyMatch(one -> matches(one, lowerCase)))
        .map(Denial::exceptions)
        .reduce(
            (one, other) -> {
              Set<String> both = new HashSet<>(one);
              both.retainAll(other);
              return both;
            });
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

  /**
   * The exceptions of a condition. Empty if the condition is not understood. A value with a policy
   * variable could be the name of every principal.
   */
  private static Optional<Set<String>> exceptions(JsonNode condition) {
    if (condition.isMissingNode()) {
      return Optional.of(Set.of());
    }
    JsonNode operator = condition.path("StringNotEquals");
    List<String> principals = texts(operator.path("aws:PrincipalArn"));
    return condition.size() == 1
            && operator.size() == 1
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

  /** Whether a pattern with the wildcards {@code *} and {@code ?} matches a text. */
  private static boolean matches(String pattern, String text) {
    return text.matches(Pattern.quote(pattern).replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q"));
  }
}
