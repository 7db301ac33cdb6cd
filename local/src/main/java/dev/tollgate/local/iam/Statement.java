package dev.tollgate.local.iam;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.template.TemplateException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/**
 * A statement of a policy.
 *
 * @param principals the callers that it applies to; empty in a role's own policy
 * @param resources the resources; empty in a trust policy
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements.html">Policy
 *     elements</a>
 */
record Statement(
    boolean allows,
    List<String> principals,
    List<Glob> actions,
    List<Glob> resources,
    List<Condition> conditions) {
  private static final Set<String> MEMBERS =
      Set.of("Sid", "Effect", "Principal", "Action", "Resource", "Condition");
  private static final String ANYONE = "*";

  /** The action and the resource of a statement that match an access. */
  record Match(Glob action, Glob resource) {}

  /**
   * Reads a statement.
   *
   * @throws TemplateException if it has a member that is not supported
   */
  static Statement of(JsonNode json, String place) {
    for (var member : json.properties()) {
      if (!MEMBERS.contains(member.getKey())) {
        throw new TemplateException(place, "unknown member " + member.getKey() + " of a statement");
      }
    }
    String effect = json.path("Effect").asText();
    if (!effect.equals("Allow") && !effect.equals("Deny")) {
      throw new TemplateException(place, "Effect: " + effect + " (expected: Allow or Deny)");
    }
    List<Condition> conditions = new ArrayList<>();
    for (var operator : json.path("Condition").properties()) {
      for (var key : operator.getValue().properties()) {
        conditions.add(Condition.of(operator.getKey(), key.getKey(), texts(key.getValue()), place));
      }
    }
    return new Statement(
        effect.equals("Allow"),
        principals(json.path("Principal"), place),
        globs(json.path("Action")),
        globs(json.path("Resource")),
        List.copyOf(conditions));
  }

  /** The match of the first statement that matches an access and allows or denies it. */
  static Optional<Match> match(boolean allowing, List<Statement> statements, Access access) {
    return statements.stream()
        .filter(statement -> statement.allows == allowing)
        .flatMap(statement -> statement.match(access).stream())
        .findFirst();
  }

  private Optional<Match> match(Access access) {
    String action = access.action().toLowerCase(Locale.ROOT);
    for (Glob ofAction : actions) {
      if (new Glob(ofAction.text().toLowerCase(Locale.ROOT)).matches(action, Context.EMPTY)) {
        return resource(access)
            .filter(any -> conditions.stream().allMatch(it -> it.holds(access.context())))
            .map(ofResource -> new Match(ofAction, ofResource));
      }
    }
    return Optional.empty();
  }

  /** Whether the statement applies to a caller, such as {@code Service:sns.amazonaws.com}. */
  boolean appliesTo(String caller) {
    return principals.contains(ANYONE)
        || principals.contains(caller)
        || (caller.startsWith("AWS:") && principals.contains("AWS:*"));
  }

  private Optional<Glob> resource(Access access) {
    if (resources.isEmpty()) {
      return Optional.of(new Glob(ANYONE));
    }
    return resources.stream()
        .filter(resource -> resource.matchesArn(access.resource(), access.context()))
        .findFirst();
  }

  private static List<String> principals(JsonNode principal, String place) {
    if (principal.isTextual()) {
      if (!principal.asText().equals(ANYONE)) {
        throw new TemplateException(place, "Principal: " + principal + " (expected: * or object)");
      }
      return List.of(ANYONE);
    }
    List<String> principals = new ArrayList<>();
    for (var kind : principal.properties()) {
      if (!kind.getKey().equals("AWS") && !kind.getKey().equals("Service")) {
        throw new TemplateException(
            place, "Principal: " + kind.getKey() + " (expected: AWS or Service)");
      }
      texts(kind.getValue()).forEach(name -> principals.add(kind.getKey() + ":" + name));
    }
    return List.copyOf(principals);
  }

  private static List<Glob> globs(JsonNode oneOrMore) {
    return texts(oneOrMore).stream().map(Glob::new).toList();
  }

  private static List<String> texts(JsonNode oneOrMore) {
    List<String> texts = new ArrayList<>();
    if (oneOrMore.isArray()) {
      oneOrMore.forEach(element -> texts.add(element.asText()));
    } else if (!oneOrMore.isMissingNode()) {
      texts.add(oneOrMore.asText());
    }
    return List.copyOf(texts);
  }
}
