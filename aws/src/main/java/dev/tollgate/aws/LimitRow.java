package dev.tollgate.aws;

import static dev.tollgate.aws.Attribute.nanos;
import static dev.tollgate.aws.Attribute.number;
import static dev.tollgate.aws.Attribute.text;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Drip;
import dev.tollgate.core.bucket.Ledger;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.Upkeep;
import dev.tollgate.core.provisioning.Release;
import dev.tollgate.core.provisioning.Silo;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The rows of the Limit table: a tenant's buckets, its silo, its count of connections with the
 * totals of those that were admitted and refused, and the theoretical arrival time of its next
 * session.
 */
final class LimitRow {
  static final String TENANT = "tenantId";
  static final String KEY = "key";
  static final String CONNECTIONS = "connections";
  static final String ITEM_COUNT = "itemCount";
  static final String ADMITTED = "admitted";
  static final String REFUSED = "refused";
  static final String SESSIONS = "sessions";
  static final String ARRIVAL = "arrival";
  static final String SILO = "silo";
  static final String BUCKET_PREFIX = "bucket:";
  static final String EMPTY_UNTIL = "emptyUntil";
  static final String VERSION = "version";

  /** Stands in the rows of buckets that their shard looks at, so that an index holds them. */
  static final String SHARD = "shard";

  /** When that is to be. */
  static final String TURN_AT = "turnAt";

  /** Stands in the row of turns, so that an index holds the tenants that may have sessions. */
  static final String LIVE = "live";

  /** What {@link #LIVE} holds. */
  static final AttributeValue IS_LIVE = text("y");

  private LimitRow() {}

  static Map<String, AttributeValue> key(TenantId tenant, String key) {
    return Map.of(TENANT, text(tenant.value()), KEY, text(key));
  }

  static Map<String, AttributeValue> key(BucketId id) {
    return key(id.tenant(), BUCKET_PREFIX + id.action());
  }

  static Map<String, AttributeValue> write(Bucket bucket) {
    Map<String, AttributeValue> row = new HashMap<>(key(bucket.id()));
    row.putAll(TenantRow.spec(bucket.spec()));
    row.put("filledThrough", nanos(bucket.ledger().filledThrough()));
    row.put("carried", number(bucket.ledger().carried()));
    row.put("dripStartedAt", nanos(bucket.drip().startedAt()));
    row.put("dripLagMillis", number(bucket.drip().lag().toMillis()));
    row.put("dripTokens", number(bucket.drip().tokens()));
    row.put("level", number(bucket.level()));
    bucket.emptyUntil().ifPresent(until -> row.put(EMPTY_UNTIL, nanos(until)));
    row.put("upkeep", text(bucket.upkeep().state().name()));
    row.put("upkeepSince", nanos(bucket.upkeep().since()));
    bucket.upkeep().fullSince().ifPresent(since -> row.put("fullSince", nanos(since)));
    bucket
        .turnAt()
        .ifPresent(
            turn -> {
              row.put(SHARD, text(Shard.of(bucket.id().tenant()).toString()));
              row.put(TURN_AT, nanos(turn));
            });
    row.put(VERSION, number(bucket.version()));
    return row;
  }

  static Bucket bucket(Row row) {
    return new Bucket(
        bucketId(row),
        TenantRow.spec(row),
        new Ledger(row.nanos("filledThrough"), row.number("carried")),
        new Drip(
            row.nanos("dripStartedAt"),
            row.number("dripTokens"),
            Duration.ofMillis(row.number("dripLagMillis"))),
        row.number("level"),
        row.optional(EMPTY_UNTIL, row::nanos),
        new Upkeep(
            Upkeep.State.valueOf(row.text("upkeep")),
            row.nanos("upkeepSince"),
            row.optional("fullSince", row::nanos)),
        row.number(VERSION));
  }

  /** The bucket whose row, or its entry in an index, this is. */
  static BucketId bucketId(Row row) {
    return new BucketId(
        new TenantId(row.text(TENANT)),
        new Action(row.text(KEY).substring(BUCKET_PREFIX.length())));
  }

  static Map<String, AttributeValue> write(Silo silo) {
    Map<String, AttributeValue> row = new HashMap<>(key(silo.tenant(), SILO));
    row.put("state", text(silo.state().name()));
    row.put("since", nanos(silo.since()));
    row.put("release", text(silo.release().value()));
    row.put(VERSION, number(silo.version()));
    return row;
  }

  static Silo silo(Row row) {
    return new Silo(
        new TenantId(row.text(TENANT)),
        Silo.State.valueOf(row.text("state")),
        row.nanos("since"),
        new Release(row.text("release")),
        row.number(VERSION));
  }

  /** The connections that a row counts; none if there is no row. */
  static long count(Optional<Row> row) {
    return total(row, ITEM_COUNT);
  }

  /** What a row has added up under a name; none if there is no row. */
  static long total(Optional<Row> row, String name) {
    return row.flatMap(found -> found.optional(name, found::number)).orElse(0L);
  }

  /** Whether this is the row of a bucket. */
  static boolean isBucket(Row row) {
    return row.text(KEY).startsWith(BUCKET_PREFIX);
  }
}
