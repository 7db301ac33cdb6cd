package dev.tollgate.local.resources.api;

import dev.tollgate.local.gateway.mapping.Integration;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * An integration whose responses, which are resources of their own, are still to be created.
 *
 * @param function the ARN of its function, if it is an integration with a function
 * @param withResponses makes the integration
 */
record IntegrationDraft(
    Optional<String> function,
    List<Integration.Response> responses,
    Function<List<Integration.Response>, Integration> withResponses) {
  Integration integration() {
    return withResponses.apply(responses);
  }

  /**
   * The function's ARN in {@code
   * arn:aws:apigateway:REGION:lambda:path/2015-03-31/functions/ARN/invocations}.
   */
  static String functionArn(String uri) {
    return uri.replaceFirst("^arn:[^:]+:apigateway:.*/functions/", "")
        .replaceFirst("/invocations$", "");
  }
}
