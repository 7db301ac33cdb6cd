package dev.tollgate.core.session;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.housekeeping.Recount;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A tenant's count of connections as it was read at one instant.
 *
 * <p>The same write that counts a connection also counts it in one of {@link #PARTS} parts, chosen
 * by the connection's id. A busy tenant's count never stands still, but most of its parts do. So
 * what is off can be told from what is only under way: see {@link Recount}.
 *
 * @param open the connections that are counted; the limit is enforced on this number
 * @param parts the connections that are counted in each part; all zero in rows of older versions
 * @param correction the name of the last correction, if there was one
 * @param tenantFullAt when a connection was last refused because the tenant had as many as it may
 *     have
 * @param sessionFullAt when a connection was last refused because its session had as many as it may
 *     have
 */
public record ConnectionCount(
    long open,
    List<Long> parts,
    Optional<String> correction,
    Optional<Instant> tenantFullAt,
    Optional<Instant> sessionFullAt) {
  /** The number of parts. */
  public static final int PARTS = 128;

  /** The count of a tenant that has none. */
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
   * The connections that are counted in no part: an older version counted them, or the count was
   * held at none while a part went below.
   */
  public long unattributed() {
    return open - parts.stream().mapToLong(Long::longValue).sum();
  }
}
