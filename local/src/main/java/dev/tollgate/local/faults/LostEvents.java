package dev.tollgate.local.faults;

import dev.tollgate.local.lambda.InvocationResult;
import dev.tollgate.local.lambda.Invoker;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;
import java.util.function.BiPredicate;

/**
 * Loses events on their way from API Gateway to a function, as may happen to {@code $disconnect}
 * (API Gateway Developer Guide, "Manage connected users and client apps: $connect and $disconnect
 * routes"): those that a test chooses, and those that the fault plan chooses.
 */
public final class LostEvents {
  private static final String DISCONNECT = "\"eventType\":\"DISCONNECT\"";

  private final Faults faults;
  private volatile BiPredicate<String, String> chosen = (function, event) -> false;

  /** Loses the events that the plan of these faults chooses. */
  public LostEvents(Faults faults) {
    this.faults = faults;
  }

  /**
   * Loses certain events from now on, without an error.
   *
   * @param events given the ARN of the function and the event, JSON
   */
  public void lose(BiPredicate<String, String> events) {
    chosen = events;
  }

  /** Loses no more events, but for planned ones. */
  public void loseNone() {
    chosen = (function, event) -> false;
  }

  /** Puts the loss before the functions. */
  public Invoker before(Invoker functions) {
    return (function, payload) ->
        isLost(function, new String(payload, StandardCharsets.UTF_8))
            ? CompletableFuture.completedFuture(
                new InvocationResult.Success("{}".getBytes(StandardCharsets.UTF_8)))
            : functions.start(function, payload);
  }

  private boolean isLost(String function, String event) {
    return chosen.test(function, event)
        || (event.contains(DISCONNECT) && faults.occurs(FaultKind.DISCONNECT_LOST, function));
  }
}
