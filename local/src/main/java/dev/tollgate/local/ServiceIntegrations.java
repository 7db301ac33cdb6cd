package dev.tollgate.local;

import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.gateway.ServiceCalls;
import dev.tollgate.local.iam.Caller;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Policies;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.net.http.HttpTimeoutException;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The calls that API Gateway makes itself, each with the rights of its integration's role. */
final class ServiceIntegrations implements ServiceCalls {
  private static final String CALLER = "ApiGateway";

  private static final Caller.Service SERVICE = new Caller.Service("apigateway.amazonaws.com");

  private final Function<Principal, ServiceClient> clients;
  private final Optional<Policies> policies;
  private final Map<String, ServiceClient> byRole = new ConcurrentHashMap<>();

  /**
   * @param clients calls APIs for somebody
   * @param policies what roles may do; without them they may do everything
   */
  ServiceIntegrations(Function<Principal, ServiceClient> clients, Optional<Policies> policies) {
    this.clients = clients;
    this.policies = policies;
  }

  @Override
  public Optional<Answer> call(Request request) {
    if (policies.isPresent() && !policies.get().trusts(request.roleArn(), SERVICE, Context.EMPTY)) {
      return Optional.of(
          new Answer(500, "API Gateway may not assume the role " + request.roleArn()));
    }
    ServiceClient client =
        byRole.computeIfAbsent(
            request.roleArn(), role -> clients.apply(Principal.of(CALLER, role)));
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
