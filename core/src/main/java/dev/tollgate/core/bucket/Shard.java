package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.List;
import java.util.stream.IntStream;

/**
 * A group of tenants whose buckets one invocation fills, once a minute.
 *
 * @param number the shard's number, 0 to {@value #COUNT} − 1
 */
public record Shard(int number) {
  /**
   * The number of shards. One invocation lasts less than a minute and fills some hundred buckets.
   * Each further shard costs an invocation a minute.
   */
  public static final int COUNT = 16;

  private static final String PREFIX = "shard-";

  /**
   * Checks the number.
   *
   * @throws InvalidValue if it is out of range
   */
  public Shard {
    InvalidValue.inRange("shard", number, 0, COUNT - 1);
  }

  /** The shard of a tenant. It never changes. */
  public static Shard of(TenantId tenant) {
    return new Shard(Math.floorMod(tenant.value().hashCode(), COUNT));
  }

  /** All shards. */
  public static List<Shard> all() {
    return IntStream.range(0, COUNT).mapToObj(Shard::new).toList();
  }

  /**
   * The shard of this name.
   *
   * @throws InvalidValue if there is none
   */
  public static Shard named(String name) {
    return all().stream()
        .filter(shard -> shard.toString().equals(name))
        .findFirst()
        .orElseThrow(
            () -> new InvalidValue("shard", name, PREFIX + "0 to " + PREFIX + (COUNT - 1)));
  }

  /** Its name. */
  @Override
  public String toString() {
    return PREFIX + number;
  }
}
