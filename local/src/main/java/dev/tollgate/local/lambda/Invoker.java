package dev.tollgate.local.lambda;

import java.util.concurrent.CompletableFuture;

/** Invokes functions. */
@FunctionalInterface
public interface Invoker {

  /**
   * Starts an invocation and returns at once.
   *
   * @param function name or ARN of the function, with or without a qualifier
   * @param payload the event, JSON
   * @return how the invocation ended; never completed by an exception
   */
  CompletableFuture<InvocationResult> start(String function, byte[] payload);
}
