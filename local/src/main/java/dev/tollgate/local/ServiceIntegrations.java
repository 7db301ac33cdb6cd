package dev.tollgate.local;

import dev.tollgate.local.gateway.ServiceCalls;
import dev.tollgate.local.services.AccessKeys;
import dev.tollgate.local.services.Principal;
import dev.tollgate.local.services.ServiceClient;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** The calls that API Gateway makes itself, each with the rights of its integration's role. */
final class ServiceIntegrations implements ServiceCalls {
  private static final String CALLER = "ApiGateway";

  private final URI frontDoor;
  private final AccessKeys accessKeys;
  private final Map<String, ServiceClient> byRole = new ConcurrentHashMap<>();

  ServiceIntegrations(URI frontDoor, AccessKeys accessKeys) {
    this.frontDoor = frontDoor;
    this.accessKeys = accessKeys;
  }

  @Override
  public Optional<Answer> call(Request request) {
    ServiceClient client =
        byRole.computeIfAbsent(
            request.roleArn(),
            role -> new ServiceClient(frontDoor, accessKeys.issue(Principal.of(CALLER, role))));
    try {
      HttpResponse<String> response =
          client.send(
              request.service(),
              request.method(),
              request.target(),
              request.headers(),
              request.body(),
              request.timeout());
      return Optional.of(new Answer(response.statusCode(), response.body()));
    } catch (HttpTimeoutException e) {
      return Optional.empty();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
