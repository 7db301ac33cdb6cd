package dev.tollgate.local;

import dev.tollgate.local.faults.Fates;
import dev.tollgate.local.faults.Misfortune;
import dev.tollgate.local.lambda.Invocation;
import dev.tollgate.local.lambda.Invoker;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;

/**
 * Events that API Gateway never delivers, as may happen to {@code $disconnect} (API Gateway
 * Developer Guide, "Manage connected users and client apps: $connect and $disconnect routes"). None
 * unless somebody, or the plan of faults, asks for it.
 */
public final class LostEvents {
  private static final String DISCONNECT = "\"eventType\":\"DISCONNECT\"";

  private final Fates fates;
  private volatile BiPredicate<String, String> lost = (function, event) -> false;

  LostEvents(Fates fates) {
    this.fates = fates;
  }

  /**
   * Loses, from now on, the events that are told; nobody learns of it.
   *
   * @param events given the ARN of the function and the event, JSON
   */
  public void lose(BiPredicate<String, String> events) {
    lost = events;
  }

  /** Loses no event any more. */
  public void loseNone() {
    lost = (function, event) -> false;
  }

  Invoker before(Invoker functions) {
    return (function, payload) ->
        isLost(function, new String(payload, StandardCharsets.UTF_8))
            ? CompletableFuture.completedFuture(
                new Invocation.Success("{}".getBytes(StandardCharsets.UTF_8)))
            : functions.start(function, payload);
  }

  private boolean isLost(String function, String event) {
    return lost.test(function, event)
        || (event.contains(DISCONNECT) && fates.strikes(Misfortune.DISCONNECT_LOST, function));
  }
}
