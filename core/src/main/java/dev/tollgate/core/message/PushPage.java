package dev.tollgate.core.message;

import java.time.Instant;
import java.util.Optional;

/**
 * A page of the sessions to which a push is sent.
 *
 * @param push what is sent
 * @param idExpiresAt when the id of the push may name another push, in whole seconds. With the
 *     tenant and the id, it identifies the push, although it may be sent later. Empty if the caller
 *     gave no id, which is then unique, or an earlier version queued the page
 * @param after the reference of the last session of the page before; empty for the first page. An
 *     id would be a secret in the queue
 */
public record PushPage(Push push, Optional<Instant> idExpiresAt, Optional<String> after) {
  /** The page after this one, which begins after a session with this reference. */
  PushPage next(String after) {
    return new PushPage(push, idExpiresAt, Optional.of(after));
  }

  /**
   * Identifies the page: the tenant, the id of the push, the second in which the id expires, and
   * the reference. At most 125 characters.
   */
  public String key() {
    return push.tenant()
        + ":"
        + push.id()
        + idExpiresAt.map(instant -> ":" + instant.getEpochSecond()).orElse("")
        + ":"
        + after.orElse("");
  }
}
