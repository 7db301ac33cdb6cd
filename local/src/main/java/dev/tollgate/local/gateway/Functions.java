package dev.tollgate.local.gateway;

import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.Invoker;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;

/**
 * The functions behind the APIs. An invocation times out by the clock, and in real time as well,
 * because a test's clock may stand still. The function continues to run.
 */
final class Functions {
  private final Invoker invoker;
  private final InstantSource clock;
  private final Set<Pending> invocations = ConcurrentHashMap.newKeySet();

  private record Pending(CompletableFuture<Optional<InvocationResult>> result, Instant deadline) {}

  Functions(Invoker invoker, InstantSource clock) {
    this.invoker = invoker;
    this.clock = clock;
  }

  /** The result of an invocation; empty if it takes longer than the integration allows. */
  Optional<InvocationResult> invoke(String function, byte[] event, Duration timeout) {
    CompletableFuture<Optional<InvocationResult>> result = new CompletableFuture<>();
    Pending pending = new Pending(result, clock.instant().plus(timeout));
    // Before the function starts, so that a sweep after that finds the invocation.
    invocations.add(pending);
    try {
      var unused =
          invoker
              .start(function, event)
              .whenComplete(
                  (answer, failure) -> {
                    if (failure == null) {
                      result.complete(Optional.of(answer));
                    } else {
                      result.completeExceptionally(failure);
                    }
                  });
      return result
          .completeOnTimeout(Optional.empty(), timeout.toMillis(), TimeUnit.MILLISECONDS)
          .get();
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("the gateway is closing", e);
    } finally {
      invocations.remove(pending);
    }
  }

  /** Ends the invocations that have timed out by the clock. */
  void sweep() {
    Instant now = clock.instant();
    for (Pending pending : invocations) {
      if (!pending.deadline.isAfter(now)) {
        pending.result.complete(Optional.empty());
      }
    }
  }
}
