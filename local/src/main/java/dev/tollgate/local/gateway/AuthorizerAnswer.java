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
 * Reads the answers of Lambda authorizers: an IAM policy and a flat context (API Gateway Developer
 * Guide, "Output from an API Gateway Lambda authorizer").
 */
final class AuthorizerAnswer {
  /** The maximum size of an answer ("Quotas for WebSocket APIs"). */
  private static final int MAX_BYTES = 8 * 1024;

  private AuthorizerAnswer() {}

  /**
   * The decision of an authorizer: 401 if it failed with exactly the message {@code Unauthorized},
   * 403 if its policy denies the invocation of the route or does not allow it, 500 if it failed
   * otherwise or its answer is invalid. The context has the values of the answer's context as
   * strings, and the principal.
   *
   * @param methodArn the route that is to be invoked
   */
  static Decision of(InvocationResult invocation, String methodArn) {
    if (invocation instanceof InvocationResult.Success success) {
      return of(success.payload(), methodArn);
    }
    return invocation instanceof InvocationResult.Failure error
            && error.message().equals("Unauthorized")
        ? new Decision.Refused(401, "", "")
        : broken(invocation.toString());
  }

  /** The decision of an authorizer that returned a payload. */
  static Decision of(byte[] payload, String methodArn) {
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
        ? new Decision.Admitted(context)
        : new Decision.Refused(403, "", "");
  }

  /** The refusal of a missing or invalid answer. */
  static Decision.Refused broken(String reason) {
    return new Decision.Refused(500, "", reason);
  }
}
