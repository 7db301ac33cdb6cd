package dev.tollgate.local;

import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.gateway.mapping.ServiceCalls;
import dev.tollgate.local.iam.Context;
import java.io.IOException;
import java.net.http.HttpResponse;
import java.util.Map;

/**
 * Calls AWS services for integrations, each with the rights of the role of its integration.
 *
 * @param roles the roles that API Gateway assumes
 */
record ServiceIntegrations(AssumedRoles roles) implements ServiceCalls {
  @Override
  public Answer call(
      Integration.Service integration, String target, Map<String, String> headers, String body)
      throws IOException {
    String role = integration.roleArn();
    if (!roles.mayAssume(role, Context.EMPTY)) {
      return new Answer(500, "API Gateway may not assume the role " + role);
    }
    HttpResponse<String> response =
        roles
            .client(role)
            .send(
                integration.service(),
                integration.method(),
                target,
                headers,
                body,
                integration.timeout());
    return new Answer(response.statusCode(), response.body());
  }
}
