package dev.tollgate.infra;

import java.util.Optional;
import java.util.regex.Pattern;

/** Where a handshake to an {@link AttachedApi} names its tenant. */
public sealed interface TenantSource {
  /**
   * Query parameters of the handshake. Clients choose them, so the application's {@code $connect}
   * function must refuse a client that names another tenant than its own.
   *
   * @param tenant the name of the parameter with the tenant's id
   * @param subject the name of the parameter with the user or device, to which {@code
   *     connectionsPerSession} and {@code sessionPerMinute} then apply; empty if only the tenant's
   *     limits apply. A handshake without a parameter named here is refused
   */
  record QueryParameters(String tenant, Optional<String> subject) implements TenantSource {
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9._-]{1,64}");

    /**
     * Checks the names.
     *
     * @throws IllegalArgumentException if a name is malformed
     */
    public QueryParameters {
      require("tenant", tenant);
      subject.ifPresent(name -> require("subject", name));
    }

    private static void require(String what, String name) {
      if (!NAME.matcher(name).matches()) {
        throw new IllegalArgumentException(
            what + ": \"" + name + "\" (expected: the name of a query parameter; " + NAME + ")");
      }
    }
  }
}
