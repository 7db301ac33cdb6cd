package dev.tollgate.local;

import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.iam.Policies;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;

/** The roles of the stack that an AWS service assumes for its calls. */
final class AssumedRoles {
  private final String name;
  private final String service;
  private final Function<Principal, ServiceClient> clients;
  private final Policies policies;
  private final Map<String, ServiceClient> byRole = new ConcurrentHashMap<>();

  /**
   * @param name the name under which the calls of the service are recorded
   * @param service the service, such as {@code scheduler.amazonaws.com}
   * @param clients creates the client of a principal
   * @param policies which roles the service may assume, and the rights of these roles
   */
  AssumedRoles(
      String name, String service, Function<Principal, ServiceClient> clients, Policies policies) {
    this.name = name;
    this.service = service;
    this.clients = clients;
    this.policies = policies;
  }

  /** Whether the service may assume a role. */
  boolean mayAssume(String roleArn, Context context) {
    return policies.trusts(roleArn, service, context);
  }

  /** Decides on an access of the service with the rights of a role: the message of a denial. */
  Optional<String> denial(String roleArn, Access access) {
    return policies.denial(Principal.of(name, roleArn), access);
  }

  /** Calls AWS APIs with the rights of a role. */
  ServiceClient client(String roleArn) {
    return byRole.computeIfAbsent(roleArn, role -> clients.apply(Principal.of(name, role)));
  }
}
