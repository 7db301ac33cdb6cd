package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Stream;

/**
 * The attributes of the Limit table that tenant-facing roles write, by what they write them for. A
 * role may name those that it is granted and the keys, in any part of a request that writes. Nobody
 * but the token producer and the control plane may name those of a bucket's ledger, level, rate and
 * capacity, so no claimant can mint.
 */
enum LimitAttributes {
  /** A hint in a bucket's row that the bucket was found empty, or no longer is. */
  HINT("emptySince emptyUntil emptyHeld version"),
  /** The count of a tenant's connections, and its parts {@code p0} to {@code p127}. */
  COUNT("itemCount p? p?? p???"),
  /** The total of admitted connections. */
  ADMITTED("admitted"),
  /** The total of refused connections, and when a limit on connections last refused one. */
  REFUSED("refused tenantFullAt sessionFullAt"),
  /** The name of the last correction of a count. */
  CORRECTION("correction"),
  /** The turns by which sessions are created. */
  TURN("arrival live"),
  /** The sessions of one subject. */
  SUBJECT("sessionIds expiresAt arrival"),
  /** A processed message. */
  MESSAGE("expiresAt schema");

  private static final List<String> KEYS = List.of("tenantId", "key");

  /** Patterns, with spaces between. */
  private final String names;

  LimitAttributes(String names) {
    this.names = names;
  }

  /** Patterns of the names in all of these, with the keys. */
  static List<String> namesIn(LimitAttributes... all) {
    return Stream.concat(
            KEYS.stream(), Stream.of(all).flatMap(each -> Stream.of(each.names.split(" ", -1))))
        .distinct()
        .sorted()
        .toList();
  }
}
