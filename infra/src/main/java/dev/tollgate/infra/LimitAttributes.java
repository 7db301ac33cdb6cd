package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Stream;

/**
 * The attributes of the Limit table that roles write, grouped by purpose. A write request of a role
 * may name only the attributes that it is granted and the keys. Only the token producer and the
 * control plane may name a bucket's ledger, level, refill and capacity, so no other role can create
 * tokens.
 */
enum LimitAttributes {
  /**
   * A bucket without its line: what it may hold, what it is owed, who fills it, and when its shard
   * looks at it.
   */
  BUCKET(
      "aheadFrom capacity carried emptyHeld emptySince emptyUntil emptyVersion fillMode"
          + " fullSince hibernateAfterMinutes level minted mintedInFull mintedThrough noLine period rate refill schema shard"
          + " turnAt upkeep upkeepSince version write"),
  /** The empty hint of a bucket. */
  HINT("emptySince emptyUntil emptyHeld emptyVersion"),
  /** The line of a bucket, which decides who may claim first and not how many may. */
  LINE("line"),
  /** The places in the line of sessions that ended, which new callers take. */
  FREED("freed"),
  /** The count of a tenant's connections with its parts {@code p0} to {@code p127}. */
  COUNT("itemCount p? p?? p???"),
  /**
   * The total of admitted connections, how many of them at most had no token, and when the last one
   * was admitted.
   */
  ADMITTED("admitted admittedLastAt withoutToken"),
  /**
   * The totals of refused connections, also by reason, and the times of the last refusal, and of
   * the last ones by a limit of connections.
   */
  REFUSED("refused refused_* refusedLastAt tenantFullAt sessionFullAt"),
  /** The id of the last correction of a count, which may also add connections without a token. */
  CORRECTION("correction withoutToken"),
  /** The rate at which the tenant creates sessions. */
  CREATION_RATE("arrival live"),
  /** A processed message. */
  MESSAGE("expiresAt schema");

  private static final List<String> KEYS = List.of("tenantId", "key");

  /** Patterns, separated by spaces. */
  private final String names;

  LimitAttributes(String names) {
    this.names = names;
  }

  /** The patterns of all given groups and the keys. */
  static List<String> namesIn(LimitAttributes... all) {
    return Stream.concat(
            KEYS.stream(), Stream.of(all).flatMap(each -> Stream.of(each.names.split(" ", -1))))
        .distinct()
        .sorted()
        .toList();
  }
}
