package dev.tollgate.controlplane.api;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A consequence of a change for what a tenant has: its connections, tokens and queues.
 *
 * @param type what would happen
 * @param members the values in the document
 * @param detail the consequence as a sentence
 */
record Consequence(Type type, Map<String, Object> members, String detail) {
  /** What would happen. */
  enum Type {
    /** More connections are open than the limit allows. They stay; new ones are refused. */
    OVER_LIMIT("overLimit"),
    /** A bucket holds more tokens than its capacity. The next fill removes the excess. */
    TRIMMED("trimmed"),
    /** The tenant's sessions end. */
    DISCONNECTED("disconnected"),
    /** The tenant's buckets are removed, and its silo if it has one. */
    REMOVED("removed");

    private final String total;

    Type(String total) {
      this.total = total;
    }

    /** The name of the member that counts the tenants with this consequence. */
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
        Type.OVER_LIMIT,
        members,
        connections
            + " connections are open and stay open. New ones are refused until fewer than "
            + value
            + " are open.");
  }

  /** A bucket whose last known level exceeds the new capacity. */
  static Consequence trimmed(Bucket bucket, BucketSpec next) {
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("bucket", bucket.id().action().value());
    members.put("capacity", next.capacity());
    members.put("level", bucket.level());
    return new Consequence(
        Type.TRIMMED,
        members,
        "Bucket `"
            + bucket.id().action()
            + "` drops from "
            + bucket.level()
            + " to "
            + next.capacity()
            + " tokens at the next fill.");
  }

  static Consequence disconnected(long connections) {
    return new Consequence(
        Type.DISCONNECTED,
        Map.of("connections", connections),
        "All sessions of the tenant end, and their " + connections + " open connections close.");
  }

  /**
   * The loss of all buckets, with their last known levels. The messages in the queue of a silo are
   * not counted, because a preview sends no request to a queue.
   */
  static Consequence removed(Isolation isolation, List<Bucket> buckets) {
    Map<String, Long> levels = new TreeMap<>();
    buckets.forEach(bucket -> levels.put(bucket.id().action().value(), bucket.level()));
    Map<String, Object> members = new LinkedHashMap<>();
    members.put("buckets", levels);
    members.put("isolation", isolation.name());
    List<String> removed = new ArrayList<>(List.of("its sessions"));
    levels.forEach((action, level) -> removed.add("bucket `" + action + "` (level " + level + ")"));
    if (isolation == Isolation.SILO) {
      removed.add("its own queue with all messages in it");
    }
    return new Consequence(
        Type.REMOVED,
        members,
        "These are removed: " + String.join(", ", removed) + ". This cannot be undone.");
  }

  Map<String, Object> document() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("kind", type.name());
    document.putAll(members);
    document.put("detail", detail);
    return document;
  }
}
