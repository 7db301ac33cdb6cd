package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.dynamodb.Attribute.nanos;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;

import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.tenant.TenantRow;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Ledger;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.provisioning.Release;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * The rows of the Limit table: a tenant's buckets, its silo, its count of connections, as a whole
 * and in parts, with the totals of those that were admitted and refused, the theoretical arrival
 * time of its next session, the sessions of each subject, and the messages that were processed
 * lately.
 */
public final class LimitRow {
  public static final String TENANT = "tenantId";
  public static final String KEY = "key";
  static final String CONNECTIONS = "connections";
  static final String ITEM_COUNT = "itemCount";
  static final String ADMITTED = "admitted";
  static final String REFUSED = "refused";

  /** When a connection was last refused because its tenant had as many as it may have. */
  static final String TENANT_FULL_AT = "tenantFullAt";

  /** When a connection was last refused because its session had as many as it may have. */
  static final String SESSION_FULL_AT = "sessionFullAt";

  /** ResourceNames the last correction of a count, which its writer knows again. */
  static final String CORRECTION = "correction";

  static final String SESSIONS = "sessions";
  static final String ARRIVAL = "arrival";
  public static final String SILO = "silo";
  static final String BUCKET_PREFIX = "bucket:";
  static final String MESSAGE_PREFIX = "message:";

  static final String SUBJECT_PREFIX = "subject:";

  /** The ids of a subject's sessions. */
  static final String SESSION_IDS = "sessionIds";

  /** The attribute that DynamoDB deletes rows by; only those of messages and subjects have it. */
  static final String EXPIRES_AT = "expiresAt";

  static final String EMPTY_SINCE = "emptySince";
  static final String EMPTY_UNTIL = "emptyUntil";
  static final String EMPTY_HELD = "emptyHeld";
  public static final String VERSION = "version";

  /** ResourceNames the write that a bucket's row comes from, which its writer knows again. */
  static final String WRITE = "write";

  /** Stands in the rows of buckets that their shard looks at, so that an index holds them. */
  public static final String SHARD = "shard";

  /** When that is to be. */
  public static final String TURN_AT = "turnAt";

  /** Stands in the row of turns, so that an index holds the tenants that may have sessions. */
  static final String LIVE = "live";

  /** What {@link #LIVE} holds. */
  static final AttributeValue IS_LIVE = text("y");

  private LimitRow() {}

  public static Map<String, AttributeValue> key(TenantId tenant, String key) {
    return Map.of(TENANT, text(tenant.value()), KEY, text(key));
  }

  public static Map<String, AttributeValue> key(BucketId id) {
    return key(id.tenant(), BUCKET_PREFIX + id.action());
  }

  public static Map<String, AttributeValue> key(TenantId tenant, MessageName message) {
    return key(tenant, MESSAGE_PREFIX + message.session() + ":" + message.id());
  }

  public static Map<String, AttributeValue> key(TenantId tenant, Subject subject) {
    return key(tenant, SUBJECT_PREFIX + subject.pseudonym());
  }

  static Map<String, AttributeValue> write(TenantId tenant, MessageName message, Instant until) {
    Map<String, AttributeValue> row = Row.withSchema(key(tenant, message));
    row.put(EXPIRES_AT, number(until.getEpochSecond()));
    return row;
  }

  static Map<String, AttributeValue> write(Bucket bucket) {
    Map<String, AttributeValue> row = Row.withSchema(key(bucket.id()));
    row.putAll(TenantRow.spec(bucket.spec()));
    row.put("mintedThrough", nanos(bucket.ledger().mintedThrough()));
    row.put("carried", number(bucket.ledger().carried()));
    row.put("aheadFrom", nanos(bucket.ledger().aheadFrom()));
    row.put("level", number(bucket.level()));
    bucket.emptyHint().ifPresent(found -> row.putAll(write(found)));
    row.put("upkeep", text(bucket.fillState().state().name()));
    row.put("upkeepSince", nanos(bucket.fillState().since()));
    bucket.fillState().fullSince().ifPresent(since -> row.put("fullSince", nanos(since)));
    bucket
        .shardDueAt()
        .ifPresent(
            turn -> {
              row.put(SHARD, text(Shard.of(bucket.id().tenant()).toString()));
              row.put(TURN_AT, nanos(turn));
            });
    row.put(VERSION, number(bucket.version()));
    return row;
  }

  static Bucket bucket(Row stored) {
    return stored.read("bucket", bucketName(stored), LimitRow::readBucket);
  }

  /** What {@link BucketId} would say, of a row that may be no bucket's too. */
  private static String bucketName(Row row) {
    return bucketAction(row) + "_" + row.text(TENANT);
  }

  private static String bucketAction(Row row) {
    return row.text(KEY).substring(BUCKET_PREFIX.length());
  }

  private static Bucket readBucket(Row row) {
    return new Bucket(
        bucketId(row),
        TenantRow.spec(row),
        new Ledger(row.nanos("mintedThrough"), row.number("carried"), row.nanos("aheadFrom")),
        row.number("level"),
        row.optional(EMPTY_SINCE, row::nanos)
            .map(since -> new EmptyHint(since, row.nanos(EMPTY_UNTIL), row.number(EMPTY_HELD))),
        new FillState(
            FillState.State.valueOf(row.text("upkeep")),
            row.nanos("upkeepSince"),
            row.optional("fullSince", row::nanos)),
        row.number(VERSION));
  }

  /** The attributes of a bucket's row that tell that it was found empty. */
  static Map<String, AttributeValue> write(EmptyHint found) {
    return Map.of(
        EMPTY_SINCE,
        nanos(found.since()),
        EMPTY_UNTIL,
        nanos(found.until()),
        EMPTY_HELD,
        number(found.held()));
  }

  /** The bucket whose row, or its entry in an index, this is. */
  static BucketId bucketId(Row row) {
    return new BucketId(new TenantId(row.text(TENANT)), new Action(bucketAction(row)));
  }

  /** The same; empty if the row's key names no bucket: then a hand has written it. */
  static Optional<BucketId> findBucketId(Row row) {
    try {
      return Optional.of(bucketId(row));
    } catch (InvalidValue invalid) {
      return Optional.empty();
    }
  }

  static Map<String, AttributeValue> write(Silo silo) {
    Map<String, AttributeValue> row = Row.withSchema(key(silo.tenant(), SILO));
    row.put("state", text(silo.state().name()));
    row.put("since", nanos(silo.since()));
    row.put("release", text(silo.release().value()));
    row.put(VERSION, number(silo.version()));
    return row;
  }

  static Silo silo(Row stored) {
    return stored.read("the silo of", stored.text(TENANT), LimitRow::readSilo);
  }

  private static Silo readSilo(Row row) {
    return new Silo(
        new TenantId(row.text(TENANT)),
        Silo.State.valueOf(row.text("state")),
        row.nanos("since"),
        new Release(row.text("release")),
        row.number(VERSION));
  }

  /** The attribute that counts a part of a tenant's connections. */
  static String part(int part) {
    return "p" + part;
  }

  static ConnectionCount connectionCount(Optional<Row> row) {
    return row.map(LimitRow::connectionCount).orElse(ConnectionCount.NONE);
  }

  private static ConnectionCount connectionCount(Row stored) {
    return stored.read("the connections of", stored.text(TENANT), LimitRow::readConnectionCount);
  }

  private static ConnectionCount readConnectionCount(Row row) {
    Optional<Row> there = Optional.of(row);
    return new ConnectionCount(
        count(there),
        IntStream.range(0, ConnectionCount.PARTS).mapToObj(i -> total(there, part(i))).toList(),
        row.optional(CORRECTION, row::text),
        row.optional(TENANT_FULL_AT, row::nanos),
        row.optional(SESSION_FULL_AT, row::nanos));
  }

  /** The connections that a row counts; none if there is no row. */
  static long count(Optional<Row> row) {
    return total(row, ITEM_COUNT);
  }

  /** What a row has added up under a name; none if there is no row. */
  static long total(Optional<Row> row, String name) {
    return row.flatMap(
            stored ->
                stored.read(
                    "the connections of",
                    stored.text(TENANT),
                    found -> found.optional(name, found::number)))
        .orElse(0L);
  }

  /** The message whose row this is. */
  static MessageName message(Row row) {
    String[] parts = row.text(KEY).split(":", 3);
    return new MessageName(new SessionId(parts[1]), parts[2]);
  }

  /** Whether this is the row of a message that is known as processed then. */
  static boolean isProcessed(Row row, Instant now) {
    return row.text(KEY).startsWith(MESSAGE_PREFIX)
        && row.read(
            "a message of",
            row.text(TENANT),
            found ->
                found.has(EXPIRES_AT)
                    && now.isBefore(Instant.ofEpochSecond(found.number(EXPIRES_AT))));
  }

  /** Whether this is the row of a bucket. */
  static boolean isBucket(Row row) {
    return row.text(KEY).startsWith(BUCKET_PREFIX);
  }
}
