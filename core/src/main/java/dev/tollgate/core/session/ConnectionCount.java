package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A tenant's connection count, read at one instant.
 *
 * <p>The write that counts a connection also counts it in one of {@link #PARTS} parts, chosen by
 * the connection's id. A busy tenant's count changes all the time, but most of its parts do not. So
 * a recount can distinguish drift from connects and disconnects in progress: see {@code
 * housekeeping.Recount}.
 *
 * @param open the count of open connections, to which the limit applies
 * @param parts the count of each part; all zero in rows of older versions
 * @param correction the id of the last correction, if there was one
 * @param tenantFullAt when a connection was last refused because of {@code tenantConnections}
 * @param sessionFullAt when a connection was last refused because of {@code connectionsPerSession}
 */
public record ConnectionCount(
    long open,
    List<Long> parts,
    Optional<String> correction,
    Optional<Instant> tenantFullAt,
    Optional<Instant> sessionFullAt) {
  /** The number of parts. */
  public static final int PARTS = 128;

  /** The count of a tenant without a stored count. */
  public static final ConnectionCount NONE =
      new ConnectionCount(
          0, Collections.nCopies(PARTS, 0L), Optional.empty(), Optional.empty(), Optional.empty());

  /**
   * Copies the list.
   *
   * @throws InvalidValue if there are not {@link #PARTS} parts
   */
  public ConnectionCount {
    parts = List.copyOf(parts);
    InvalidValue.inRange("parts", parts.size(), PARTS, PARTS);
  }

  /** The part, from 0, in which a connection is counted. */
  public static int partOf(String connectionId) {
    return Math.floorMod(connectionId.hashCode(), PARTS);
  }

  /**
   * The connections that are counted in no part: an older release counted them, or the count stayed
   * at zero while a part fell below zero.
   */
  public long unattributed() {
    return open - parts.stream().mapToLong(Long::longValue).sum();
  }
}
