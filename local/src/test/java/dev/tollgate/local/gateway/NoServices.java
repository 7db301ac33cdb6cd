package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.mapping.Integration;
import dev.tollgate.local.gateway.mapping.ServiceCalls;
import java.util.Map;

/** For APIs that call no AWS service. */
enum NoServices implements ServiceCalls {
  INSTANCE;

  @Override
  public Answer call(
      Integration.Service integration, String target, Map<String, String> headers, String body) {
    throw new AssertionError(integration);
  }
}
