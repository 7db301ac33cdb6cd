package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.Invocation;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/**
 * What API Gateway makes of the answer of a Lambda authorizer: an IAM policy and a flat context
 * (API Gateway Developer Guide, "Output from an API Gateway Lambda authorizer").
 */
sealed interface AuthorizerAnswer {

  /** The most that an authorizer may answer ("Quotas for WebSocket APIs"). */
  int MAX_BYTES = 8 * 1024;

  /**
   * The policy allows the invocation.
   *
   * @param context what becomes {@code requestContext.authorizer}: the context's values as strings,
   *     and the principal
   */
  record Allowed(ObjectNode context) implements AuthorizerAnswer {}

  /** The policy denies the invocation, or does not allow it. */
  record Denied() implements AuthorizerAnswer {}

  /** The function failed with the very message {@code Unauthorized}. */
  record Unauthorized() implements AuthorizerAnswer {}

  /**
   * There is no answer, or not one that an authorizer may give.
   *
   * @param reason what is wrong
   */
  record Broken(String reason) implements AuthorizerAnswer {}

  /**
   * Reads the end of an authorizer's invocation.
   *
   * @param methodArn the route that is to be invoked
   */
  static AuthorizerAnswer of(Invocation invocation, String methodArn) {
    if (invocation instanceof Invocation.Success success) {
      return of(success.payload(), methodArn);
    }
    return invocation instanceof Invocation.FunctionError error
            && error.message().equals("Unauthorized")
        ? new Unauthorized()
        : new Broken(invocation.toString());
  }

  /**
   * Reads an answer.
   *
   * @param payload what the function returned
   * @param methodArn the route that is to be invoked
   */
  static AuthorizerAnswer of(byte[] payload, String methodArn) {
    if (payload.length > MAX_BYTES) {
      return new Broken("size: " + payload.length + " bytes (expected: <= " + MAX_BYTES + ")");
    }
    JsonNode answer;
    try {
      answer = Json.read(payload);
    } catch (IOException e) {
      return new Broken("not JSON: " + e.getMessage());
    }
    if (!answer.path("principalId").isTextual()) {
      return new Broken("principalId: " + answer.get("principalId") + " (expected: a string)");
    }
    ObjectNode context = Json.object();
    if (answer.hasNonNull("context") && !answer.path("context").isObject()) {
      return new Broken("context: " + answer.get("context") + " (expected: an object)");
    }
    for (var entry : answer.path("context").properties()) {
      if (!entry.getValue().isValueNode() || entry.getValue().isNull()) {
        return new Broken(
            "context.%s: %s (expected: a string, number or boolean)"
                .formatted(entry.getKey(), entry.getValue()));
      }
      context.put(entry.getKey(), entry.getValue().asText());
    }
    context.set("principalId", answer.get("principalId"));

    JsonNode statements = answer.path("policyDocument").path("Statement");
    if (statements.isMissingNode()) {
      return new Broken(
          "policyDocument: " + answer.get("policyDocument") + " (expected: a policy)");
    }
    boolean allowed = false;
    for (JsonNode statement : oneOrMore(statements)) {
      String effect = statement.path("Effect").asText();
      List<JsonNode> actions = oneOrMore(statement.path("Action"));
      List<JsonNode> resources = oneOrMore(statement.path("Resource"));
      if (!effect.matches("Allow|Deny")
          || actions.isEmpty()
          || resources.isEmpty()
          || statement.has("Condition")) {
        return new Broken(
            "statement: %s (expected: Effect, Action and Resource, no Condition)"
                .formatted(statement));
      }
      if (matches(actions, "execute-api:Invoke", Pattern.CASE_INSENSITIVE)
          && matches(resources, methodArn, 0)) {
        if (effect.equals("Deny")) {
          return new Denied();
        }
        allowed = true;
      }
    }
    return allowed ? new Allowed(context) : new Denied();
  }

  private static List<JsonNode> oneOrMore(JsonNode node) {
    List<JsonNode> nodes = new ArrayList<>();
    if (node.isArray()) {
      node.forEach(nodes::add);
    } else if (!node.isMissingNode()) {
      nodes.add(node);
    }
    return nodes;
  }

  /**
   * IAM's wildcards: {@code *} is any run of characters, slashes and colons too, {@code ?} is one.
   */
  private static boolean matches(List<JsonNode> patterns, String value, int flags) {
    return patterns.stream()
        .map(pattern -> Pattern.quote(pattern.asText()))
        .map(quoted -> quoted.replace("*", "\\E.*\\Q").replace("?", "\\E.\\Q"))
        .anyMatch(regex -> Pattern.compile(regex, flags).matcher(value).matches());
  }
}
