package dev.tollgate.local.gateway;

import java.util.Optional;

/** For APIs that call no AWS service. */
enum NoServices implements ServiceCalls {
  INSTANCE;

  @Override
  public Optional<Answer> call(Request request) {
    throw new AssertionError(request);
  }
}
