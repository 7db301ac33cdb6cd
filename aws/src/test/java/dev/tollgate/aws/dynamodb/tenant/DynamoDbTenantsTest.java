package dev.tollgate.aws.dynamodb.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.contract.TenantsContract;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@ExtendWith(Engines.class)
class DynamoDbTenantsTest extends TenantsContract {
  private final DynamoDbClient client;
  private final String table;
  private final DynamoDbTenants tenants;
  private final Tenants tenByTen;

  DynamoDbTenantsTest(Engines.Tables tables) {
    client = tables.client();
    table = tables.tenant();
    tenByTen = new DynamoDbTenants(client, table, () -> Author.UNKNOWN, 10);
    tenants = new DynamoDbTenants(client, table, () -> Author.UNKNOWN);
  }

  @Override
  protected Tenants tenants() {
    return tenants;
  }

  @Override
  protected AuditNotes notes() {
    return tenants;
  }

  @Test
  void a_cursor_of_no_listing_is_refused() {
    assertThatThrownBy(() -> tenants.list(Optional.of("No tenant!"), 10))
        .isInstanceOf(InvalidValue.class)
        .hasMessageContaining("cursor");
  }

  /** Creates 75 tenants of tier bronze, of which every seventh is settled. */
  private void onboardMany() {
    for (int i = 0; i < 75; i++) {
      Tenant tenant =
          Tenant.onboarded(
              new TenantId("m-%02d".formatted(i)), Tier.DEFAULTS.get(0), Overrides.NONE);
      tenants.create(tenant);
      if (i % 7 != 0) {
        tenants.markObserved(tenant.id(), 1);
      }
    }
  }

  private static TenantFilter filter(String prefix, String tier, boolean pending) {
    return new TenantFilter(
        Optional.of(prefix).filter(text -> !text.isEmpty()),
        Optional.of(tier).filter(text -> !text.isEmpty()).map(TierName::new),
        pending);
  }

  @ParameterizedTest
  @CsvSource({"zz, '', false, 0", "m-7, '', false, 5", "m, bronze, true, 11"})
  void a_search_with_few_matches_ends_its_page_after_five_requests(
      String prefix, String tier, boolean pending, int matches) {
    onboardMany();
    TenantFilter filter = filter(prefix, tier, pending);

    Page<Tenant> first = tenByTen.search(filter, Optional.empty(), 100);
    Page<Tenant> second = tenByTen.search(filter, first.next(), 100);

    assertThat(first.next()).isPresent();
    assertThat(second.next()).isEmpty();
    assertThat(Stream.concat(first.items().stream(), second.items().stream()))
        .hasSize(matches)
        .doesNotHaveDuplicates()
        .allMatch(filter::matches);
  }

  @Test
  void a_search_continues_after_the_last_tenant_of_its_page() {
    onboardMany();
    TenantFilter filter = filter("m", "", false);
    Set<String> seen = new TreeSet<>();
    Optional<String> cursor = Optional.empty();
    int parts = 0;
    do {
      Page<Tenant> part = tenByTen.search(filter, cursor, 7);
      assertThat(part.items()).hasSizeLessThanOrEqualTo(7);
      part.items().forEach(tenant -> assertThat(seen.add(tenant.id().value())).isTrue());
      cursor = part.next();
      parts++;
    } while (cursor.isPresent());

    assertThat(seen).hasSize(75);
    assertThat(parts).isLessThanOrEqualTo(12);
  }

  @Test
  void pending_tenants_are_read_from_the_table_and_not_from_the_index() {
    Tenant tenant = Tenant.onboarded(new TenantId("acme"), Tier.DEFAULTS.get(2), Overrides.NONE);
    tenants.create(tenant);

    assertThat(tenants.search(filter("", "", true), Optional.empty(), 10).items())
        .containsExactly(tenant);
  }

  @Test
  void a_tenant_of_an_older_release_has_the_default_limits_and_a_line() {
    Tenant bronze = Tenant.onboarded(new TenantId("stored"), Tier.DEFAULTS.get(0), Overrides.NONE);
    Map<String, AttributeValue> row = new HashMap<>(TenantRow.write(bronze));
    row.computeIfPresent("limits", DynamoDbTiersTest::ofSix);
    assertThat(row).doesNotContainKey("line");
    client.putItem(request -> request.tableName(table).item(row));

    Tenant read = tenants.find(bronze.id()).orElseThrow();

    assertThat(read.line()).isTrue();

    assertThat(read.limits()).isEqualTo(Limits.of(60, 5, 2, 10, 200, 60));
    assertThat(read.limits().get(Limit.SESSION_LIFETIME)).isEqualTo(86_400);
    assertThat(read.limits().get(Limit.SESSIONS_PER_SUBJECT)).isEqualTo(10);
    assertThat(tenants.list(Optional.empty(), 10).items()).containsExactly(read);
  }

  /** {@code docs/prices.yaml} assumes 12 read units of 4 KB for a page of 25 rows. */
  @Test
  void a_row_with_all_overrides_is_not_larger_than_its_price_assumes() {
    Tier gold = Tier.DEFAULTS.get(2);
    Map<Action, BucketTerms> buckets = new HashMap<>();
    for (int i = 0; i < 7; i++) {
      buckets.put(
          new Action("a-long-action-name-" + i),
          new BucketTerms(Optional.of(Rate.perMinute(60_000)), Optional.of(60_000L)));
    }
    Tier tier =
        new Tier(
            gold.name(),
            gold.isolation(),
            gold.limits(),
            buckets,
            gold.fillPolicy(),
            gold.onUnavailable(),
            gold.line(),
            gold.retreat(),
            0,
            0);
    Tenant tenant =
        Tenant.onboarded(new TenantId("t".repeat(36)), tier, Overrides.of(gold.limits().values()));

    long bytes = size(AttributeValue.fromM(TenantRow.write(tenant)));
    assertThat(25 * bytes).as("%d bytes", bytes).isLessThanOrEqualTo(12 * 4_096);
  }

  /** The size as DynamoDB counts it: names and values, 3 bytes for a map and 1 for each member. */
  private static long size(AttributeValue value) {
    if (value.hasM()) {
      return 3
          + value.m().entrySet().stream()
              .mapToLong(member -> 1 + member.getKey().length() + size(member.getValue()))
              .sum();
    }
    return value.n() != null ? value.n().length() / 2 + 2 : value.s().length();
  }
}
