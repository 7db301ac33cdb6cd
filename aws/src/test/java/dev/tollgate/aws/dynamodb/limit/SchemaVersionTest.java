package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.aws.dynamodb.DynamoDbIdempotencyKeys;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTenants;
import dev.tollgate.aws.dynamodb.tenant.DynamoDbTiers;
import dev.tollgate.aws.dynamodb.tenant.TenantRow;
import dev.tollgate.core.Action;
import dev.tollgate.core.NewerRow;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.BucketRows;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.message.MessageName;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions.Consistency;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;

/** Rows of every type, as an older, this, and a newer release write them. */
@ExtendWith(Engines.class)
class SchemaVersionTest {
  private static final TenantId ACME = new TenantId("acme");
  private static final Tier SILVER = Tier.DEFAULTS.get(1);
  private static final SessionId SESSION = new SessionId("0123456789abcdef0123456789abcdef");
  private static final MessageName MESSAGE = new MessageName(SESSION, "m1");

  private final DynamoDbClient dynamoDb;
  private final DynamoDbFactsReader.Tables tables;
  private final String tierTable;
  private final String keyTable;
  private final DynamoDbTenants tenants;
  private final DynamoDbTiers tiers;
  private final DynamoDbSessions sessions;
  private final DynamoDbBuckets buckets;
  private final DynamoDbSilos silos;
  private final DynamoDbIdempotencyKeys keys;
  private final DynamoDbMessageLog log;
  private final DynamoDbActivity activity;
  private final DynamoDbFactsReader facts;

  SchemaVersionTest(Engines.Tables engine) {
    dynamoDb = engine.client();
    DynamoDbPorts ports = new DynamoDbPorts(engine);
    tables = ports.tables();
    tierTable = engine.tier();
    keyTable = engine.idempotency();
    tenants = ports.tenants();
    tiers = new DynamoDbTiers(dynamoDb, tierTable, () -> Author.UNKNOWN);
    sessions = ports.sessions();
    buckets = ports.buckets();
    silos = ports.silos();
    keys = new DynamoDbIdempotencyKeys(dynamoDb, keyTable);
    log = ports.messageLog();
    activity = ports.activity();
    facts = ports.facts(new ManualClock(Samples.NOW));
  }

  /**
   * A row that this release wrote.
   *
   * @param named its name in an error
   * @param reads the methods that read it; each returns the value it read
   */
  private record Stored(
      String table, Map<String, AttributeValue> key, String named, List<Supplier<?>> reads) {}

  private Map<String, Stored> stored() {
    Map<String, Stored> all = new HashMap<>();
    Tenant tenant = tenant("acme");
    all.put(
        "tenant",
        stored(
            tables.tenant(),
            TenantRow.key(ACME),
            "tenant acme",
            () -> tenants.find(ACME),
            () -> facts.read(ACME, SESSION).tenant()));

    Tier changed = SILVER.withVersionAfter(0);
    tiers.put(changed);
    all.put(
        "tier",
        stored(tierTable, tierKey(SILVER.name()), "tier silver", () -> tiers.find(SILVER.name())));
    Tier removed = Tier.DEFAULTS.get(0);
    tiers.remove(removed.name(), 0);
    all.put(
        "removed tier",
        stored(
            tierTable, tierKey(removed.name()), "tier bronze", () -> tiers.find(removed.name())));
    tiers.markRolledOut(new Release("processor:1"));
    all.put(
        "release",
        stored(
            tierTable,
            Map.of("tier", Attribute.text("#release")),
            "release",
            tiers::rolledOutRelease));

    sessions.create(
        new Session(ACME, SESSION, Set.of(), Samples.NOW.plusSeconds(60), Optional.empty()));
    all.put(
        "session",
        stored(
            tables.session(),
            SessionRow.key(ACME, SESSION),
            "a session of acme",
            () -> sessions.find(ACME, SESSION),
            () -> sessions.page(ACME, Optional.empty(), 10, Consistency.CONSISTENT).itemsOrThrow(),
            () -> facts.read(ACME, SESSION).session(),
            () -> facts.read(ACME, Set.of(SESSION), Set.of()).sessions()));

    BucketId id = new BucketId(ACME, Action.CONNECT);
    buckets.open(
        Bucket.opened(
            id, Objects.requireNonNull(tenant.buckets().get(Action.CONNECT)), Samples.NOW));
    all.put(
        "bucket",
        stored(
            tables.limit(),
            LimitRow.key(id),
            "bucket " + id,
            () -> buckets.find(id),
            () -> activity.of(ACME).buckets(),
            () -> facts.read(ACME, SESSION).bucket()));

    silos.open(Silo.opened(ACME, new Release("processor:1"), Samples.NOW));
    all.put(
        "silo",
        stored(
            tables.limit(),
            LimitRow.key(ACME, LimitRow.SILO),
            "the silo of acme",
            () -> silos.find(ACME)));

    log.add(ACME, Set.of(MESSAGE), Samples.NOW.plusSeconds(60));
    all.put(
        "message",
        stored(
            tables.limit(),
            LimitRow.key(ACME, MESSAGE),
            "a message of acme",
            () -> facts.read(ACME, Set.of(SESSION), Set.of(MESSAGE)).processed()));

    KeyClaim claim =
        new KeyClaim(new IdempotencyKey("k-1"), "print", "owner", Samples.NOW.plusSeconds(60));
    keys.claim(claim, Samples.NOW);
    all.put(
        "idempotency key",
        stored(
            keyTable,
            Map.of("key", Attribute.text("k-1")),
            "idempotency key k-1",
            () ->
                keys.claim(
                    new KeyClaim(claim.key(), "print", "another", claim.endsAt()), Samples.NOW)));
    return all;
  }

  private static Stored stored(
      String table, Map<String, AttributeValue> key, String named, Supplier<?>... reads) {
    return new Stored(table, key, named, List.of(reads));
  }

  private Tenant tenant(String id) {
    Tenant tenant = Tenant.onboarded(new TenantId(id), SILVER, Overrides.NONE);
    tenants.create(tenant);
    return tenant;
  }

  @TestFactory
  Stream<DynamicTest> a_row() {
    return stored().entrySet().stream()
        .map(each -> DynamicTest.dynamicTest(each.getKey(), () -> check(each.getValue())));
  }

  private void check(Stored row) {
    assertThat(attributes(row).get("schema")).isEqualTo(Attribute.number(Row.SCHEMA));
    List<Object> now = new ArrayList<>();
    row.reads().forEach(read -> now.add(read.get()));

    setSchema(row, Row.SCHEMA + 1);
    for (Supplier<?> read : row.reads()) {
      assertThatThrownBy(read::get)
          .isInstanceOf(NewerRow.class)
          .hasMessageContaining(row.named() + " has schema version " + (Row.SCHEMA + 1))
          .hasMessageContaining("at most " + Row.SCHEMA)
          .hasMessageContaining("deploy the release that wrote it")
          .hasMessageNotContaining(SESSION.value());
    }

    removeSchema(row);
    check(row, now);
    setSchema(row, Row.SCHEMA);
    Map<String, AttributeValue> whole = attributes(row);
    for (String attribute : whole.keySet()) {
      if (!row.key().containsKey(attribute)) {
        Map<String, AttributeValue> broken = new HashMap<>(whole);
        broken.remove(attribute);
        checkBroken(row, broken, attribute + " removed");
        for (AttributeValue misfit : BAD_VALUES) {
          broken.put(attribute, misfit);
          checkBroken(row, broken, attribute + ": " + misfit);
        }
      }
    }
    put(row, whole);
    check(row, now);
  }

  /** Unexpected values of an attribute: one of each type, and some out of range. */
  private static final List<AttributeValue> BAD_VALUES =
      List.of(
          Attribute.text("text"),
          AttributeValue.fromN("-1.5"),
          AttributeValue.fromN("-9223372036854775808"),
          AttributeValue.fromN("9223372036854775807"),
          AttributeValue.fromN("1e120"),
          AttributeValue.fromBool(true),
          AttributeValue.fromNul(true),
          AttributeValue.fromM(Map.of("a b", AttributeValue.fromN("1"))),
          AttributeValue.fromM(Map.of("connect", AttributeValue.fromNul(true))),
          AttributeValue.fromL(List.of()),
          AttributeValue.fromSs(List.of("x")));

  /** Checks that a manually changed row is read, or is unreadable with its name in the error. */
  private void checkBroken(Stored row, Map<String, AttributeValue> broken, String how) {
    for (Supplier<?> read : row.reads()) {
      try {
        put(row, broken);
      } catch (DynamoDbException keyOfIndex) {
        // A table refuses a key of an index that has the wrong type.
        assertThat(
                List.of(LimitRow.SHARD, LimitRow.TURN_AT, "tier", "pending", "scheduled", "dueAt"))
            .anyMatch(how::startsWith);
        return;
      }
      try {
        Object unused = read.get();
      } catch (UnreadableRow unreadable) {
        assertThat(unreadable)
            .hasMessageContaining(row.named())
            .hasMessageNotContaining(SESSION.value());
      } catch (RuntimeException other) {
        throw new AssertionError(row.named() + ", " + how, other);
      }
    }
  }

  private void put(Stored row, Map<String, AttributeValue> item) {
    dynamoDb.putItem(put -> put.tableName(row.table()).item(item));
  }

  private static void check(Stored row, List<Object> now) {
    for (int i = 0; i < row.reads().size(); i++) {
      assertThat(row.reads().get(i).get()).isEqualTo(now.get(i));
    }
  }

  @Test
  void a_listing_of_buckets_separates_unreadable_rows() {
    Tenant tenant = tenant("acme");
    tenant
        .buckets()
        .forEach(
            (action, spec) ->
                buckets.open(Bucket.opened(new BucketId(ACME, action), spec, Samples.NOW)));
    BucketId broken = new BucketId(ACME, Action.CONNECT);
    BucketId alone = new BucketId(ACME, new Action("mail"));
    Stored row = stored(tables.limit(), LimitRow.key(broken), "");
    Map<String, AttributeValue> misfit = new HashMap<>(attributes(row));
    misfit.put(LimitRow.VERSION, Attribute.text("text"));
    put(row, misfit);
    dynamoDb.putItem(put -> put.tableName(tables.limit()).item(LimitRow.key(alone)));
    dynamoDb.putItem(
        put ->
            put.tableName(tables.limit())
                .item(
                    Map.of(
                        LimitRow.TENANT, Attribute.text("acme"),
                        LimitRow.KEY, Attribute.text("bucket:No Action"),
                        LimitRow.SHARD, Attribute.text(Shard.of(ACME).toString()),
                        LimitRow.TURN_AT, Attribute.number(0))));

    BucketRows rows = buckets.list(ACME);

    assertThat(rows.buckets()).hasSize(tenant.buckets().size() - 1);
    assertThat(rows.unreadable()).containsOnlyKeys(broken.action(), alone.action());
    assertThat(rows.unreadable().get(broken.action()))
        .hasMessageContaining("version: of type S (expected: a whole number)");
    assertThat(rows.strays()).containsExactly("bucket:No Action");
    assertThat(buckets.due(Shard.of(ACME), Samples.NOW, Optional.empty(), 1_000).items())
        .doesNotContain(alone);

    buckets.remove(broken);
    buckets.remove(alone);
    rows.strays().forEach(name -> buckets.removeStray(ACME, name));
    assertThat(buckets.list(ACME)).isEqualTo(new BucketRows(rows.buckets()));
  }

  @Test
  void listings_skip_tenants_that_a_newer_release_wrote() {
    tenant("acme");
    tenant("bolt");
    Tenant coil = tenant("coil");
    setSchema(stored(tables.tenant(), TenantRow.key(ACME), ""), Row.SCHEMA + 1);
    setSchema(stored(tables.tenant(), TenantRow.key(new TenantId("bolt")), ""), Row.SCHEMA + 1);

    List.of(
            tenants.list(Optional.empty(), 10),
            tenants.inTier(SILVER.name(), Optional.empty(), 10),
            tenants.search(TenantFilter.ALL, Optional.empty(), 10),
            tenants.search(
                new TenantFilter(Optional.empty(), Optional.empty(), true), Optional.empty(), 10))
        .forEach(
            page -> {
              assertThat(page.items()).containsExactly(coil);
              assertThat(page.unreadable())
                  .extracting(UnreadableRow::name)
                  .containsExactlyInAnyOrder("acme", "bolt");
            });
    assertThat(tenants.listPending(Optional.empty(), 10)).hasSize(3);
  }

  @Test
  void a_listing_skips_a_tier_that_a_newer_release_wrote() {
    tiers.put(SILVER.withVersionAfter(0));
    setSchema(stored(tierTable, tierKey(SILVER.name()), ""), Row.SCHEMA + 1);

    Page<Tier> page = tiers.list();

    assertThat(page.items()).hasSize(Tier.DEFAULTS.size() - 1).doesNotContain(SILVER);
    assertThat(page.unreadable()).extracting(UnreadableRow::name).containsExactly("silver");
  }

  private Map<String, AttributeValue> attributes(Stored row) {
    return dynamoDb.getItem(get -> get.tableName(row.table()).key(row.key())).item();
  }

  private void setSchema(Stored row, long version) {
    dynamoDb.updateItem(
        update ->
            update
                .tableName(row.table())
                .key(row.key())
                .updateExpression("SET #schema = :version")
                .expressionAttributeNames(Map.of("#schema", "schema"))
                .expressionAttributeValues(Map.of(":version", Attribute.number(version))));
  }

  private void removeSchema(Stored row) {
    dynamoDb.updateItem(
        update ->
            update
                .tableName(row.table())
                .key(row.key())
                .updateExpression("REMOVE #schema")
                .expressionAttributeNames(Map.of("#schema", "schema")));
  }

  private static Map<String, AttributeValue> tierKey(TierName name) {
    return Map.of("tier", Attribute.text(name.value()));
  }
}
