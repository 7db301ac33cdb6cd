package dev.tollgate.local;

import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.gateway.mapping.ServiceCalls;
import dev.tollgate.local.iam.Context;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.Optional;

/**
 * The calls that API Gateway makes itself, each with the rights of its integration's role.
 *
 * @param roles the roles that API Gateway assumes
 */
record ServiceIntegrations(AssumedRoles roles) implements ServiceCalls {
  @Override
  public Optional<Answer> call(
      Integration.Service integration, String target, Map<String, String> headers, String body) {
    String role = integration.roleArn();
    if (!roles.mayAssume(role, Context.EMPTY)) {
      return Optional.of(new Answer(500, "API Gateway may not assume the role " + role));
    }
    try {
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
      return Optional.of(new Answer(response.statusCode(), response.body()));
    } catch (HttpTimeoutException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
