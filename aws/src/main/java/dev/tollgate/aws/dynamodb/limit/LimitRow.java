package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.dynamodb.Attribute.nanos;
import static dev.tollgate.aws.dynamodb.Attribute.number;
import static dev.tollgate.aws.dynamodb.Attribute.text;
import static java.nio.charset.StandardCharsets.UTF_8;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.tenant.TenantRow;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.CalendarLedger;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.FillState;
import dev.tollgate.core.bucket.Ledger;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.bucket.RateLedger;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.connect.Refusal;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.session.ConnectionCount;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Release;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * Reads and writes rows of the Limit table: a tenant's buckets, its silo, its connection count with
 * the totals of admitted and refused connections, the rate at which it creates sessions, and
 * recently processed messages.
 */
final class LimitRow {
  /** The partition key. */
  static final String TENANT = "tenantId";

  /** The sort key. */
  static final String KEY = "key";

  static final String CONNECTIONS = "connections";
  static final String ITEM_COUNT = "itemCount";
  static final String ADMITTED = "admitted";

  /** When a connection was last admitted. */
  static final String ADMITTED_LAST_AT = "admittedLastAt";

  /** At most so many admitted connections were admitted without a token. */
  static final String WITHOUT_TOKEN = "withoutToken";

  /** Refused connections; with an underscore and a reason: those of this reason. */
  static final String REFUSED = "refused";

  /** When the last connection was refused that the last write of refusals counts. */
  static final String REFUSED_LAST_AT = "refusedLastAt";

  /** When a connection was last refused because of {@code tenantConnections}. */
  static final String TENANT_FULL_AT = "tenantFullAt";

  /** When a connection was last refused because of {@code connectionsPerSession}. */
  static final String SESSION_FULL_AT = "sessionFullAt";

  /** A random id of the last correction of a count. */
  static final String CORRECTION = "correction";

  static final String SESSIONS = "sessions";
  static final String ARRIVAL = "arrival";

  /** The sort key of a silo. */
  static final String SILO = "silo";

  static final String BUCKET_PREFIX = "bucket:";
  static final String MESSAGE_PREFIX = "message:";

  /** The time-to-live attribute of DynamoDB; only rows of messages have it. */
  static final String EXPIRES_AT = "expiresAt";

  private static final String MINTED_THROUGH = "mintedThrough";
  private static final String CARRIED = "carried";
  private static final String AHEAD_FROM = "aheadFrom";

  /** The ledger of a bucket that a calendar fills, a map. Other buckets have the three above. */
  private static final String PERIOD = "period";

  /** The tokens in a bucket after its last fill. */
  static final String LEVEL = "level";

  /** The tokens that fills have added to a bucket. */
  static final String MINTED = "minted";

  /** Present if {@link #MINTED} counts every token since the tenant was onboarded. */
  static final String MINTED_IN_FULL = "mintedInFull";

  /** Since when every fill found the bucket full. */
  static final String FULL_SINCE = "fullSince";

  static final String EMPTY_SINCE = "emptySince";
  static final String EMPTY_UNTIL = "emptyUntil";
  static final String EMPTY_HELD = "emptyHeld";

  /** The version of the hint, see {@link Bucket#hintVersion}. */
  static final String EMPTY_VERSION = "emptyVersion";

  /** The line of a bucket, a map. Only claims and the counting of spare tokens write it. */
  static final String LINE = "line";

  /**
   * The freed places of the line. They are an attribute of their own because the session API may
   * write them and may not write the line.
   */
  static final String FREED = "freed";

  /** The names that {@link #freedName} gives. */
  private static final Pattern FREED_NAME = Pattern.compile("(0|[1-9]\\d{0,17})/[1-9]\\d{0,17}");

  static final String LINE_EPOCH = "epoch";
  static final String LINE_ISSUED = "issued";
  static final String LINE_ANCHOR = "anchor";
  static final String LINE_AT = "at";
  static final String LINE_FROM = "from";
  static final String LINE_RATE = "rate";
  static final String LINE_BEFORE = "before";
  static final String LINE_SPARE = "spare";
  static final String LINE_SPARE_TAKEN_AT = "spareTakenAt";

  /** More than a line or a hint version reaches. What counts on from it can still be read. */
  private static final long MAX_COUNT = 1L << 61;

  /** The attributes of a bucket that are missing in some of its states. */
  static final List<String> BUCKET_OPTIONS =
      List.of(
          EMPTY_SINCE,
          EMPTY_UNTIL,
          EMPTY_HELD,
          FULL_SINCE,
          MINTED_IN_FULL,
          LimitRow.SHARD,
          LimitRow.TURN_AT,
          TenantRow.NO_LINE,
          TenantRow.RATE,
          TenantRow.REFILL,
          MINTED_THROUGH,
          CARRIED,
          AHEAD_FROM,
          PERIOD);

  /** The version of a bucket or silo, for conditional writes. */
  static final String VERSION = "version";

  /** A random id of the write that a bucket's row comes from. */
  static final String WRITE = "write";

  /**
   * The shard that maintains the bucket. Only rows with this attribute are in the index of this
   * name.
   */
  static final String SHARD = "shard";

  /** When the shard maintains the bucket next. */
  static final String TURN_AT = "turnAt";

  /** Puts the row of the session rate into the index of live tenants. */
  static final String LIVE = "live";

  /** The value of {@link #LIVE}. */
  static final AttributeValue IS_LIVE = text("y");

  /**
   * The attributes that programs that claim tokens may write into any row of their tenant, up to
   * 400 KB. A count removes them from its own row, which would have no room for it otherwise.
   */
  static final List<String> CLAIMED =
      List.of(LINE, FREED, EMPTY_SINCE, EMPTY_UNTIL, EMPTY_HELD, EMPTY_VERSION);

  /** Removes {@link #CLAIMED} in an update with {@link #namesWithClaimed}. */
  static final String REMOVE_CLAIMED =
      CLAIMED.stream().map(name -> "#" + name).collect(Collectors.joining(", ", " REMOVE ", ""));

  private LimitRow() {}

  /** The names of an update that also removes what claims may write. */
  static Map<String, String> namesWithClaimed(Map<String, String> names) {
    Map<String, String> all = new HashMap<>(names);
    CLAIMED.forEach(name -> all.put("#" + name, name));
    return all;
  }

  /** The key of a tenant's row. */
  static Map<String, AttributeValue> key(TenantId tenant, String key) {
    return Map.of(TENANT, text(tenant.value()), KEY, text(key));
  }

  /** The key of a bucket. */
  static Map<String, AttributeValue> key(BucketId id) {
    return key(id.tenant(), BUCKET_PREFIX + id.action());
  }

  /** The key of a processed message. */
  static Map<String, AttributeValue> key(TenantId tenant, MessageName message) {
    return key(tenant, MESSAGE_PREFIX + message.session() + ":" + message.id());
  }

  /** The cursor of a key of the index of shards: turn, tenant and key, each URL-encoded. */
  static String shardCursor(Row key) {
    return Stream.of(Long.toString(key.number(TURN_AT)), key.text(TENANT), key.text(KEY))
        .map(part -> URLEncoder.encode(part, UTF_8))
        .collect(Collectors.joining("_"));
  }

  /**
   * The key of the index of shards that a cursor stands for.
   *
   * @throws InvalidValue if it is no cursor
   */
  static Map<String, AttributeValue> shardKey(Shard shard, String cursor) {
    // An underscore is not encoded, but no number and no tenant's id contains one.
    String[] parts = cursor.split("_", 3);
    if (parts.length < 3 || !parts[0].matches("-?[0-9]{1,19}")) {
      throw new InvalidValue("cursor", cursor, "one of a page of due buckets");
    }
    Map<String, AttributeValue> key = new HashMap<>();
    key.put(SHARD, text(shard.toString()));
    key.put(TURN_AT, AttributeValue.fromN(parts[0]));
    key.put(TENANT, text(URLDecoder.decode(parts[1], UTF_8)));
    key.put(KEY, text(URLDecoder.decode(parts[2], UTF_8)));
    return key;
  }

  static Map<String, AttributeValue> write(TenantId tenant, MessageName message, Instant until) {
    Map<String, AttributeValue> row = Row.withSchema(key(tenant, message));
    row.put(EXPIRES_AT, number(until.getEpochSecond()));
    return row;
  }

  static Map<String, AttributeValue> write(Bucket bucket) {
    Map<String, AttributeValue> row = Row.withSchema(key(bucket.id()));
    row.putAll(TenantRow.spec(bucket.spec()));
    row.putAll(write(bucket.ledger()));
    row.put(LEVEL, number(bucket.level()));
    row.put(MINTED, number(bucket.minted()));
    if (bucket.mintedInFull()) {
      row.put(MINTED_IN_FULL, AttributeValue.fromBool(true));
    }
    bucket.emptyHint().ifPresent(found -> row.putAll(write(found)));
    bucket.line().ifPresent(line -> row.put(LINE, Attribute.map(write(line))));
    row.put("upkeep", text(bucket.fillState().state().name()));
    row.put("upkeepSince", nanos(bucket.fillState().since()));
    bucket.fillState().fullSince().ifPresent(since -> row.put(FULL_SINCE, nanos(since)));
    bucket
        .shardDueAt()
        .ifPresent(
            turn -> {
              row.put(SHARD, text(Shard.of(bucket.id().tenant()).toString()));
              row.put(TURN_AT, nanos(turn));
            });
    row.put(VERSION, number(bucket.version()));
    row.put(EMPTY_VERSION, number(bucket.hintVersion()));
    return row;
  }

  private static Map<String, AttributeValue> write(Ledger ledger) {
    if (ledger instanceof CalendarLedger counted) {
      return Map.of(
          PERIOD,
          Attribute.map(
              Map.of(
                  "since", nanos(counted.since()),
                  "minted", number(counted.minted()),
                  "validFrom", nanos(counted.validFrom()))));
    }
    RateLedger owed = (RateLedger) ledger;
    return Map.of(
        MINTED_THROUGH, nanos(owed.mintedThrough()),
        CARRIED, number(owed.carried()),
        AHEAD_FROM, nanos(owed.aheadFrom()));
  }

  private static Ledger ledger(Row row) {
    if (!row.has(PERIOD)) {
      return new RateLedger(row.nanos(MINTED_THROUGH), row.number(CARRIED), row.nanos(AHEAD_FROM));
    }
    Row period = row.map(PERIOD);
    return new CalendarLedger(
        period.nanos("since"), period.number("minted"), period.nanos("validFrom"));
  }

  static Bucket bucket(Row stored) {
    return stored.read("bucket", bucketName(stored), LimitRow::readBucket);
  }

  /**
   * The name of a row's bucket, in the form of {@link BucketId#toString}, even if the row holds no
   * valid bucket.
   */
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
        ledger(row),
        row.number(LEVEL),
        // Older releases wrote none.
        row.optional(MINTED, row::number).orElse(0L),
        row.has(MINTED_IN_FULL),
        row.readable(LimitRow::emptyHint),
        new FillState(
            FillState.State.valueOf(row.text("upkeep")),
            row.nanos("upkeepSince"),
            row.optional(FULL_SINCE, row::nanos)),
        row.readable(LimitRow::line),
        row.number(VERSION),
        row.readable(LimitRow::hintVersion).orElse(0L));
  }

  /** Whether a claim wrote a hint or its version that cannot be read. */
  static boolean hasUnreadableHint(Row row) {
    return (row.has(EMPTY_SINCE) && row.readable(LimitRow::emptyHint).isEmpty())
        || (row.has(EMPTY_VERSION) && row.readable(LimitRow::hintVersion).isEmpty());
  }

  /** The line that a claim wrote, if it cannot be read. */
  static Optional<AttributeValue> unreadableLine(Row row) {
    return row.readable(LimitRow::line).isPresent()
        ? Optional.empty()
        : Optional.ofNullable(row.attributes().get(LINE));
  }

  /** The freed places that a claim wrote, if their type or one of their names cannot be read. */
  static Optional<AttributeValue> unreadableFreed(Row row) {
    int readable = row.readable(LimitRow::freed).map(Set::size).orElse(0);
    return Optional.ofNullable(row.attributes().get(FREED))
        .filter(names -> names.ss().isEmpty() || names.ss().size() > readable);
  }

  private static EmptyHint emptyHint(Row row) {
    return new EmptyHint(row.nanos(EMPTY_SINCE), row.nanos(EMPTY_UNTIL), count(row, EMPTY_HELD));
  }

  private static long hintVersion(Row row) {
    return count(row, EMPTY_VERSION);
  }

  private static Line line(Row row) {
    Row line = row.map(LINE);
    return new Line(
        count(line, LINE_EPOCH),
        count(line, LINE_ISSUED),
        count(line, LINE_ANCHOR),
        line.nanos(LINE_AT),
        line.nanos(LINE_FROM),
        new Rate(line.number(LINE_RATE)),
        new Rate(line.optional(LINE_BEFORE, line::number).orElseGet(() -> line.number(LINE_RATE))),
        count(line, LINE_SPARE),
        line.nanos(LINE_SPARE_TAKEN_AT),
        row.readable(LimitRow::freed).orElse(Set.of()));
  }

  /** The freed places with a valid name. Others are ignored, so that one cannot hide the rest. */
  private static Set<Place> freed(Row row) {
    return row.texts(FREED).stream()
        .filter(name -> FREED_NAME.matcher(name).matches())
        .map(LimitRow::place)
        .collect(Collectors.toSet());
  }

  private static Place place(String text) {
    String[] parts = text.split("/", -1);
    return new Place(Long.parseLong(parts[0]), Long.parseLong(parts[parts.length - 1]));
  }

  /** The name of a place in the set of freed ones. */
  static String freedName(Place place) {
    return place.epoch() + "/" + place.number();
  }

  /** A number that counts up from 0. */
  private static long count(Row row, String name) {
    return InvalidValue.inRange(name, row.number(name), 0, MAX_COUNT);
  }

  /** The map that holds a line. */
  static Map<String, AttributeValue> write(Line line) {
    return Map.of(
        LINE_EPOCH, number(line.epoch()),
        LINE_ISSUED, number(line.issued()),
        LINE_ANCHOR, number(line.anchor()),
        LINE_AT, nanos(line.at()),
        LINE_FROM, nanos(line.from()),
        LINE_RATE, number(line.rate().microtokensPerMinute()),
        LINE_BEFORE, number(line.before().microtokensPerMinute()),
        LINE_SPARE, number(line.spare()),
        LINE_SPARE_TAKEN_AT, nanos(line.spareTakenAt()));
  }

  /** The attributes of a bucket's row that hold its {@link EmptyHint}. */
  static Map<String, AttributeValue> write(EmptyHint found) {
    return Map.of(
        EMPTY_SINCE, nanos(found.since()),
        EMPTY_UNTIL, nanos(found.until()),
        EMPTY_HELD, number(found.held()));
  }

  /** The bucket of a row or of an index entry. */
  static BucketId bucketId(Row row) {
    return new BucketId(new TenantId(row.text(TENANT)), new Action(bucketAction(row)));
  }

  /**
   * The bucket of a row; empty if the row's key is malformed, because the table was edited by hand.
   */
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

  /**
   * The attribute that counts the connections that would have been refused for this reason. The
   * policies of roles allow all names that begin with {@code refused_}.
   */
  static String observed(Refusal why) {
    return REFUSED + "_observed_" + why;
  }

  /** The attribute that counts the connections that were refused for this reason. */
  static String refused(Refusal why) {
    return REFUSED + "_" + why;
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
    Optional<Row> found = Optional.of(row);
    return new ConnectionCount(
        count(found),
        IntStream.range(0, ConnectionCount.PARTS).mapToObj(i -> total(found, part(i))).toList(),
        row.optional(CORRECTION, row::text),
        row.optional(TENANT_FULL_AT, row::nanos),
        row.optional(SESSION_FULL_AT, row::nanos));
  }

  /** The number of open connections in a row; 0 without a row. */
  static long count(Optional<Row> row) {
    return total(row, ITEM_COUNT);
  }

  /** A total in a row; 0 if the row or the attribute does not exist. */
  static long total(Optional<Row> row, String name) {
    return row.flatMap(
            stored ->
                stored.read(
                    "the connections of",
                    stored.text(TENANT),
                    found -> found.optional(name, found::number)))
        .orElse(0L);
  }

  /** When a connection was last admitted; empty if the row does not exist or none was. */
  static Optional<Instant> admittedLastAt(Optional<Row> row) {
    return row.flatMap(
        stored ->
            stored.read(
                "the connections of",
                stored.text(TENANT),
                found -> found.optional(ADMITTED_LAST_AT, found::nanos)));
  }

  /** The processed message of a row. */
  static MessageName message(Row row) {
    String[] parts = row.text(KEY).split(":", 3);
    return new MessageName(new SessionId(parts[1]), parts[2]);
  }

  /** Whether this is the row of a processed message that has not expired. */
  static boolean isProcessed(Row row, Instant now) {
    return row.text(KEY).startsWith(MESSAGE_PREFIX)
        && row.read(
            "a message of",
            row.text(TENANT),
            found ->
                found.has(EXPIRES_AT)
                    && now.isBefore(Instant.ofEpochSecond(found.number(EXPIRES_AT))));
  }

  /** Whether the row's key is a bucket's. */
  static boolean isBucket(Row row) {
    return row.text(KEY).startsWith(BUCKET_PREFIX);
  }
}
