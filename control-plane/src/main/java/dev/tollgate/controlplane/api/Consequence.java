package dev.tollgate.controlplane.api;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.tenant.Limit;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What a change would mean for what a tenant has now.
 *
 * @param kind what would happen
 * @param members of what, and by how much
 * @param detail the same in words
 */
record Consequence(Kind kind, Map<String, Object> members, String detail) {
  /** What may happen. */
  enum Kind {
    /** There is more than a limit allows; it stays, and no more is let in. */
    OVER_LIMIT("overLimit"),
    /** A bucket holds more tokens than it may; the next fill takes them out. */
    TRIMMED("trimmed"),
    /** Its sessions end. */
    DISCONNECTED("disconnected");

    private final String total;

    Kind(String total) {
      this.total = total;
    }

    /** The name of the number of tenants that meet with this. */
    String total() {
      return total;
    }
  }

  static Consequence overLimit(Limit limit, long value, long connections) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("limit", limit.key());
    members.put("value", value);
    members.put("connections", connections);
    return new Consequence(
        Kind.OVER_LIMIT,
        members,
        connections
            + " connections are open and stay; none is let in until fewer than "
            + value
            + " are");
  }

  /** The bucket has more than fits, as far as was last seen. */
  static Consequence trimmed(Bucket bucket, BucketSpec next) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("bucket", bucket.id().action().value());
    members.put("capacity", next.capacity());
    members.put("level", bucket.level());
    return new Consequence(
        Kind.TRIMMED,
        members,
        "bucket "
            + bucket.id().action()
            + " was last seen with "
            + bucket.level()
            + " tokens; the next fill takes out what is more than "
            + next.capacity());
  }

  static Consequence disconnected(long connections) {
    return new Consequence(
        Kind.DISCONNECTED,
        Map.of("connections", connections),
        "its sessions end, and with them " + connections + " open connections");
  }

  Map<String, Object> document() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kind", kind.name());
    document.putAll(members);
    document.put("detail", detail);
    return document;
  }
}
