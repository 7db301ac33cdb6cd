package dev.tollgate.controlplane.doctor;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Shard;
import java.util.Optional;

/**
 * Something that is not as it should be.
 *
 * @param kind in what way
 * @param resource what kind of thing it is
 * @param name its name: a tenant's id, a shard's name, or action and tenant of a bucket
 * @param tenant whose it is, if it is one tenant's
 * @param action what its bucket is for, if it is a bucket's
 * @param detail what is there, and what should be
 */
public record Finding(
    Kind kind,
    Resource resource,
    String name,
    Optional<TenantId> tenant,
    Optional<Action> action,
    String detail) {
  public static Finding of(Kind kind, Resource resource, BucketId id, String detail) {
    return new Finding(
        kind, resource, id.toString(), Optional.of(id.tenant()), Optional.of(id.action()), detail);
  }

  public static Finding of(Kind kind, Shard shard, String detail) {
    return new Finding(
        kind,
        Resource.SHARD_SCHEDULE,
        shard.toString(),
        Optional.empty(),
        Optional.empty(),
        detail);
  }

  public static Finding unsettled(TenantId id, String detail) {
    return new Finding(
        Kind.UNSETTLED, Resource.TENANT, id.toString(), Optional.of(id), Optional.empty(), detail);
  }

  /** In what way something is not as it should be. */
  public enum Kind {
    /** It should be there, and is not. */
    MISSING,
    /** It is there, and is not what it should be. */
    DIFFERS,
    /** It is there, and nobody it belongs to is. */
    ORPHANED,
    /** What is desired of it has not been brought about, or is not what its tier says. */
    UNSETTLED
  }

  /** What may be not as it should be. */
  public enum Resource {
    /** A tenant. */
    TENANT("tenant"),
    /** A bucket's row. */
    BUCKET("bucket"),
    /** A bucket's queue. */
    QUEUE("queue"),
    /** A bucket's schedule. */
    SCHEDULE("schedule"),
    /** A shard's schedule. */
    SHARD_SCHEDULE("shard-schedule");

    private final String key;

    Resource(String key) {
      this.key = key;
    }

    /** What documents call it. */
    public String key() {
      return key;
    }
  }
}
