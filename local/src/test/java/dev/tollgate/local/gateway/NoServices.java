package dev.tollgate.local.gateway;

import dev.tollgate.local.gateway.mapping.ServiceCalls;
import java.util.Optional;

/** For APIs that call no AWS service. */
enum NoServices implements ServiceCalls {
  INSTANCE;

  @Override
  public Optional<Answer> call(Request request) {
    throw new AssertionError(request);
  }
}
