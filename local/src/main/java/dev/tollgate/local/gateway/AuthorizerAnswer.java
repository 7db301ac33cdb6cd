package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.Invocation;
import dev.tollgate.local.template.TemplateException;
import java.io.IOException;

/**
 * The interpretation of a Lambda authorizer's answer: an IAM policy and a flat context (API Gateway
 * Developer Guide, "Output from an API Gateway Lambda authorizer").
 */
sealed interface AuthorizerAnswer {

  /** The maximum size of an authorizer's answer ("Quotas for WebSocket APIs"). */
  int MAX_BYTES = 8 * 1024;

  /**
   * The policy allows the invocation.
   *
   * @param context the value of {@code requestContext.authorizer}: the context's values as strings,
   *     and the principal
   */
  record Allowed(ObjectNode context) implements AuthorizerAnswer {}

  /** The policy denies the invocation, or does not allow it. */
  record Denied() implements AuthorizerAnswer {}

  /** The function failed with exactly the message {@code Unauthorized}. */
  record Unauthorized() implements AuthorizerAnswer {}

  /**
   * The answer is missing or invalid.
   *
   * @param reason the problem
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

    JsonNode statements = answer.at("/policyDocument/Statement");
    for (JsonNode statement : statements.isArray() ? statements : Json.array().add(statements)) {
      if (!statement.has("Action") || !statement.has("Resource") || statement.has("Condition")) {
        return new Broken(
            "statement: %s (expected: Effect, Action and Resource, no Condition)"
                .formatted(statement));
      }
    }
    Policy policy;
    try {
      policy = Policy.ofStatements(statements, "policyDocument");
    } catch (TemplateException e) {
      return new Broken(String.valueOf(e.getMessage()));
    }
    return policy.allows(Access.to("execute-api:Invoke", methodArn))
        ? new Allowed(context)
        : new Denied();
  }
}
