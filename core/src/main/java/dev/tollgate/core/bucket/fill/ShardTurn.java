package dev.tollgate.core.bucket.fill;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.fanout.SelfInvocation;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * A turn of a shard, or the rest of one.
 *
 * @param minute the minute for which the shard's schedule fired
 * @param after the cursor of the buckets that are left; empty for all
 * @param part how often the turn was handed over, 0 to {@value #MAX_PARTS} − 1
 */
public record ShardTurn(Shard shard, Instant minute, Optional<String> after, int part)
    implements SelfInvocation.Work {
  /**
   * Into how many parts a turn is divided at most. Lambda stops functions that invoke themselves 16
   * times in a row.
   */
  public static final int MAX_PARTS = 8;

  /**
   * Checks the part.
   *
   * @throws InvalidValue if it is out of range
   */
  public ShardTurn {
    InvalidValue.inRange("part", part, 0, MAX_PARTS - 1);
  }

  /** A whole turn. */
  public static ShardTurn whole(Shard shard, Instant minute) {
    return new ShardTurn(shard, minute, Optional.empty(), 0);
  }

  @Override
  public Map<String, String> toEvent() {
    Map<String, String> event = new TreeMap<>();
    event.put("shard", shard.toString());
    event.put("scheduledTime", minute.toString());
    event.put("part", Integer.toString(part));
    after.ifPresent(cursor -> event.put("after", cursor));
    return event;
  }

  /** The same part, from another cursor on. */
  ShardTurn from(Optional<String> cursor) {
    return new ShardTurn(shard, minute, cursor, part);
  }

  /** The part that follows this one, if there may be one. */
  Optional<ShardTurn> next() {
    return part + 1 < MAX_PARTS
        ? Optional.of(new ShardTurn(shard, minute, after, part + 1))
        : Optional.empty();
  }
}
