package dev.tollgate.core.fanout;

import dev.tollgate.core.Unavailable;
import java.util.Map;

/** Hands work to another invocation of the same function. */
@FunctionalInterface
public interface SelfInvocation<W extends SelfInvocation.Work> {
  /**
   * Requests the work and does not wait for it. The work may be done twice.
   *
   * @throws Unavailable if the request may not have been accepted
   */
  void send(W work);

  /** Work that fits into an event. */
  interface Work {
    /** The members of the event that requests this work, without characters that JSON escapes. */
    Map<String, String> toEvent();
  }
}
