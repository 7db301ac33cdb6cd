package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult;
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

  /**
   * The handshake is refused.
   *
   * @param status 401 if the function failed with exactly the message {@code Unauthorized}, 403 if
   *     the policy denies the invocation or does not allow it, 500 if the answer is missing or
   *     invalid
   * @param reason the problem with the answer; empty if it has none
   */
  record Refused(int status, String reason) implements AuthorizerAnswer {}

  /**
   * Reads the end of an authorizer's invocation.
   *
   * @param methodArn the route that is to be invoked
   */
  static AuthorizerAnswer of(InvocationResult invocation, String methodArn) {
    if (invocation instanceof InvocationResult.Success success) {
      return of(success.payload(), methodArn);
    }
    return invocation instanceof InvocationResult.Failure error
            && error.message().equals("Unauthorized")
        ? new Refused(401, "")
        : broken(invocation.toString());
  }

  /**
   * Reads an answer.
   *
   * @param payload what the function returned
   * @param methodArn the route that is to be invoked
   */
  static AuthorizerAnswer of(byte[] payload, String methodArn) {
    if (payload.length > MAX_BYTES) {
      return broken("size: " + payload.length + " bytes (expected: <= " + MAX_BYTES + ")");
    }
    JsonNode answer;
    try {
      answer = Json.read(payload);
    } catch (IOException e) {
      return broken("not JSON: " + e.getMessage());
    }
    if (!answer.path("principalId").isTextual()) {
      return broken("principalId: " + answer.get("principalId") + " (expected: a string)");
    }
    ObjectNode context = Json.object();
    if (answer.hasNonNull("context") && !answer.path("context").isObject()) {
      return broken("context: " + answer.get("context") + " (expected: an object)");
    }
    for (var entry : answer.path("context").properties()) {
      if (!entry.getValue().isValueNode() || entry.getValue().isNull()) {
        return broken(
            "context.%s: %s (expected: a string, number or boolean)"
                .formatted(entry.getKey(), entry.getValue()));
      }
      context.put(entry.getKey(), entry.getValue().asText());
    }
    context.set("principalId", answer.get("principalId"));

    JsonNode statements = answer.at("/policyDocument/Statement");
    for (JsonNode statement : statements.isArray() ? statements : Json.array().add(statements)) {
      if (!statement.has("Action") || !statement.has("Resource") || statement.has("Condition")) {
        return broken(
            "statement: %s (expected: Effect, Action and Resource, no Condition)"
                .formatted(statement));
      }
    }
    Policy policy;
    try {
      policy = Policy.ofStatements(statements, "policyDocument");
    } catch (TemplateException e) {
      return broken(String.valueOf(e.getMessage()));
    }
    return policy.allows(Access.to("execute-api:Invoke", methodArn))
        ? new Allowed(context)
        : new Refused(403, "");
  }

  /** The refusal of a missing or invalid answer. */
  static Refused broken(String reason) {
    return new Refused(500, reason);
  }
}
