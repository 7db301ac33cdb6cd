package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.Action;
import dev.tollgate.core.Page;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.audit.AuditNotes;
import dev.tollgate.core.audit.ChangeType;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.BucketTerms;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.LimitSchedule;
import dev.tollgate.core.tenant.LimitSchedules;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Overrides;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.TenantFilter;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.core.tenant.Tenants;
import dev.tollgate.core.tenant.Tier;
import dev.tollgate.core.tenant.TierName;
import dev.tollgate.core.testing.Race;
import dev.tollgate.core.testing.Samples;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The contract of {@link Tenants}. */
public abstract class TenantsContract {
  private static final Tier BRONZE = Tier.DEFAULTS.get(0);
  private static final Tier GOLD = Tier.DEFAULTS.get(2);

  /** The tenants under test; none exist at the start of a test. */
  protected abstract Tenants tenants();

  protected abstract AuditNotes notes();

  private Tenant created(Tier tier) {
    Tenant tenant = Samples.tenant(tier).withOnboardedAt(Samples.NOW.plusMillis(7));
    assertThat(tenants().create(tenant)).isEqualTo(WriteResult.DONE);
    return tenant;
  }

  private static Tenant observed(Tenant tenant, long version) {
    return new Tenant(
        tenant.id(),
        tenant.tier(),
        tenant.overrides(),
        tenant.status(),
        tenant.limits(),
        tenant.isolation(),
        tenant.buckets(),
        tenant.onUnavailable(),
        tenant.version(),
        version,
        tenant.onboardedAt());
  }

  private static Tenant suspended(Tenant tenant) {
    return tenant.changed(BRONZE, Overrides.NONE, TenantStatus.SUSPENDED);
  }

  @Test
  void find_of_an_unknown_tenant_is_empty() {
    assertThat(tenants().find(Samples.tenantId())).isEmpty();
  }

  @Test
  void written_tenant_is_read_unchanged() {
    Tier tier =
        new Tier(
            new TierName("platinum"),
            Isolation.SILO,
            GOLD.limits(),
            Map.of(
                new Action("send-email"),
                new BucketTerms(
                    Optional.of(Rate.perMinute(new BigDecimal("0.2"))), Optional.of(5L)),
                Action.CONNECT,
                new BucketTerms(Optional.empty(), Optional.of(1_000L))),
            new FillPolicy(FillMode.SHARED, 3),
            OnUnavailable.REFUSE,
            false,
            Optional.empty(),
            3,
            2);
    Tenant tenant =
        Tenant.onboarded(
            Samples.tenantId(),
            tier,
            Overrides.of(Map.of(Limit.TENANT_CONNECTIONS, 7L, Limit.SESSION_TTL, 86_400L)));

    tenants().create(tenant);

    assertThat(tenants().find(tenant.id())).contains(tenant);
    assertThat(tenant.line()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void override_of_the_line_is_read_unchanged(boolean on) {
    Overrides overrides = new Overrides(Map.of(Limit.SESSION_TTL, 60L), Map.of(), Optional.of(on));
    Tenant tenant = Tenant.onboarded(Samples.tenantId(), BRONZE, overrides);

    tenants().create(tenant);

    assertThat(tenants().find(tenant.id())).contains(tenant);
    assertThat(tenant.line()).isEqualTo(on);
  }

  private static Overrides twice(String from, String to) {
    return Overrides.NONE.with(
        LimitSchedules.NONE.with(LimitSchedule.of(BigDecimal.valueOf(2), from, to, "UTC")));
  }

  @Test
  void schedules_are_read_unchanged() {
    Overrides overrides = twice("1971-01-01T00:00", "1971-01-02T00:00");
    Overrides open =
        overrides.with(overrides.schedules().at(Instant.parse("1971-01-01T00:00:00Z")));
    Tenant tenant = Tenant.onboarded(Samples.tenantId(), BRONZE, open);

    tenants().create(tenant);

    assertThat(tenants().find(tenant.id())).contains(tenant);
    assertThat(tenant.limits().get(Limit.TENANT_PER_MINUTE)).isEqualTo(120);
  }

  @Test
  void tenants_are_listed_while_a_window_is_due() {
    Overrides overrides = twice("1980-01-01T00:00", "1990-01-01T00:00");
    Instant opens = Instant.parse("1980-01-01T00:00:00Z");
    Instant closes = Instant.parse("1990-01-01T00:00:00Z");
    Tenant tenant = Tenant.onboarded(Samples.tenantId(), BRONZE, overrides);
    tenants().create(tenant);
    tenants().create(Tenant.onboarded(Samples.tenantId(), BRONZE, Overrides.NONE));
    Tenant late =
        Tenant.onboarded(Samples.tenantId(), BRONZE, twice("1979-01-01T00:00", "1990-01-01T00:00"));
    tenants().create(late);

    assertThat(tenants().listDue(opens.minusNanos(1), 10)).containsExactly(late.id());
    assertThat(tenants().listDue(opens, 10)).containsExactly(late.id(), tenant.id());
    assertThat(tenants().listDue(opens, 1)).containsExactly(late.id());

    Overrides open = overrides.with(overrides.schedules().at(opens));
    tenants().replace(tenant.changed(BRONZE, open, TenantStatus.ACTIVE));
    assertThat(tenants().listDue(closes.minusNanos(1), 10)).containsExactly(late.id());
    assertThat(tenants().listDue(closes, 10)).contains(tenant.id());

    tenants().replace(late.offboarding());
    assertThat(tenants().listDue(closes, 10)).containsExactly(tenant.id());
  }

  @Test
  void modes_are_read_unchanged() {
    Map<Limit, LimitMode> overridden =
        Map.of(
            Limit.TENANT_PER_MINUTE,
            LimitMode.OBSERVE,
            Limit.SESSION_PER_MINUTE,
            LimitMode.ENFORCE);
    Tenant tenant =
        Tenant.onboarded(
            Samples.tenantId(), BRONZE, new Overrides(Map.of(), overridden, Optional.empty()));

    tenants().create(tenant);

    assertThat(tenants().find(tenant.id())).contains(tenant);
    assertThat(tenant.limits().modes())
        .isEqualTo(Map.of(Limit.TENANT_PER_MINUTE, LimitMode.OBSERVE));
  }

  @Test
  void create_of_an_existing_tenant_changes_nothing() {
    Tenant tenant = created(BRONZE);

    Tenant other = Tenant.onboarded(tenant.id(), GOLD, Overrides.NONE);
    assertThat(tenants().create(other)).isEqualTo(WriteResult.CONFLICT);

    assertThat(tenants().find(tenant.id())).contains(tenant);
  }

  @Test
  void one_of_many_concurrent_creations_of_a_tenant_succeeds() {
    TenantId id = Samples.tenantId();

    List<WriteResult> answers =
        Race.of(8, i -> tenants().create(Tenant.onboarded(id, BRONZE, Overrides.NONE)));

    assertThat(Collections.frequency(answers, WriteResult.DONE)).isEqualTo(1);
  }

  @Test
  void replace_of_the_current_version_succeeds() {
    Tenant tenant = created(BRONZE);
    Tenant next = suspended(tenant);

    assertThat(tenants().replace(next)).isEqualTo(WriteResult.DONE);

    assertThat(tenants().find(tenant.id())).contains(next);
  }

  @Test
  void replace_of_an_old_version_changes_nothing() {
    Tenant tenant = created(BRONZE);
    Tenant next = suspended(tenant);
    tenants().replace(next);

    Tenant late = tenant.changed(GOLD, Overrides.NONE, TenantStatus.ACTIVE);
    assertThat(tenants().replace(late)).isEqualTo(WriteResult.CONFLICT);

    assertThat(tenants().find(tenant.id())).contains(next);
  }

  @Test
  void replace_never_creates_a_tenant() {
    Tenant next = suspended(Samples.tenant());

    assertThat(tenants().replace(next)).isEqualTo(WriteResult.CONFLICT);

    assertThat(tenants().find(next.id())).isEmpty();
  }

  @Test
  void tenant_is_pending_until_its_version_is_observed() {
    Tenant tenant = created(BRONZE);
    assertThat(tenants().listPending(Optional.empty(), 10)).containsExactly(tenant.id());

    tenants().markObserved(tenant.id(), 1);

    assertThat(tenants().listPending(Optional.empty(), 10)).isEmpty();
    assertThat(tenants().find(tenant.id())).contains(observed(tenant, 1));
  }

  @Test
  void changed_tenant_is_pending_again() {
    Tenant tenant = created(BRONZE);
    tenants().markObserved(tenant.id(), 1);

    tenants().replace(suspended(observed(tenant, 1)));

    assertThat(tenants().listPending(Optional.empty(), 10)).containsExactly(tenant.id());
  }

  @Test
  void observing_an_old_version_changes_nothing() {
    Tenant tenant = created(BRONZE);
    Tenant next = suspended(tenant);
    tenants().replace(next);

    tenants().markObserved(tenant.id(), 1);

    assertThat(tenants().find(tenant.id())).contains(next);
    assertThat(tenants().listPending(Optional.empty(), 10)).containsExactly(tenant.id());
  }

  @Test
  void observing_an_unknown_tenant_creates_none() {
    TenantId unknown = Samples.tenantId();

    tenants().markObserved(unknown, 1);

    assertThat(tenants().find(unknown)).isEmpty();
  }

  @Test
  void pending_tenants_are_listed_in_order_and_in_parts() {
    List<TenantId> pending =
        IntStream.range(0, 5)
            .mapToObj(i -> created(BRONZE).id())
            .sorted(Comparator.comparing(TenantId::value))
            .toList();

    assertThat(tenants().listPending(Optional.empty(), 3))
        .containsExactlyElementsOf(pending.subList(0, 3));
    assertThat(tenants().listPending(Optional.of(pending.get(2)), 3))
        .containsExactlyElementsOf(pending.subList(3, 5));
    assertThat(tenants().listPending(Optional.of(pending.get(4)), 3)).isEmpty();
  }

  @Test
  void remove_deletes_the_current_version_and_is_idempotent() {
    Tenant tenant = created(BRONZE);
    tenants().replace(suspended(tenant));

    assertThat(tenants().remove(tenant.id(), 1)).isEqualTo(WriteResult.CONFLICT);
    assertThat(tenants().find(tenant.id())).isPresent();

    assertThat(tenants().remove(tenant.id(), 2)).isEqualTo(WriteResult.DONE);
    assertThat(tenants().remove(tenant.id(), 2)).isEqualTo(WriteResult.DONE);
    assertThat(tenants().find(tenant.id())).isEmpty();
  }

  @Test
  void list_returns_every_tenant_once_for_any_page_size() {
    List<Tenant> all = IntStream.range(0, 7).mapToObj(i -> created(i < 3 ? BRONZE : GOLD)).toList();

    for (int max : new int[] {1, 2, 3, 7, 8}) {
      int size = max;
      assertThat(parts(cursor -> tenants().list(cursor, size), size))
          .containsExactlyInAnyOrderElementsOf(all);
    }
  }

  @Test
  void in_tier_returns_only_its_tenants_by_name() {
    IntStream.range(0, 3).forEach(i -> created(BRONZE));
    List<TenantId> gold =
        IntStream.range(0, 5)
            .mapToObj(i -> created(GOLD).id())
            .sorted((a, b) -> a.value().compareTo(b.value()))
            .toList();

    assertThat(parts(cursor -> tenants().inTier(GOLD.name(), cursor, 2), 2))
        .extracting(Tenant::id)
        .containsExactlyElementsOf(gold);
    assertThat(tenants().inTier(new TierName("silver"), Optional.empty(), 2).items()).isEmpty();
  }

  private static TenantFilter filter(String prefix, Optional<TierName> tier, boolean pending) {
    return new TenantFilter(Optional.of(prefix).filter(text -> !text.isEmpty()), tier, pending);
  }

  @Test
  void search_returns_every_match_once_for_any_page_size() {
    List<Tenant> all = new ArrayList<>();
    for (String name : List.of("a", "ab", "abc", "abd", "b", "ba", "ab-1", "c")) {
      for (Tier tier : List.of(BRONZE, GOLD)) {
        for (boolean settled : new boolean[] {false, true}) {
          String id = name + "-" + tier.name() + (settled ? "-done" : "");
          Tenant tenant = Tenant.onboarded(new TenantId(id), tier, Overrides.NONE);
          tenants().create(tenant);
          if (settled) {
            tenants().markObserved(tenant.id(), 1);
          }
          all.add(settled ? observed(tenant, 1) : tenant);
        }
      }
    }

    for (String prefix : List.of("", "a", "ab", "abc-bronze-done", "ab-", "x")) {
      for (Optional<TierName> tier :
          List.of(
              Optional.<TierName>empty(),
              Optional.of(GOLD.name()),
              Optional.of(new TierName("none")))) {
        for (boolean pending : new boolean[] {false, true}) {
          TenantFilter filter = filter(prefix, tier, pending);
          for (int max : new int[] {1, 3, 100}) {
            assertThat(parts(cursor -> tenants().search(filter, cursor, max), max))
                .as("%s by %d", filter, max)
                .containsExactlyInAnyOrderElementsOf(all.stream().filter(filter::matches).toList());
          }
        }
      }
    }
  }

  @Test
  void a_note_changes_no_tenant_and_creates_none() {
    Tenant tenant = created(GOLD);
    TenantId missing = Samples.tenantId();

    notes().note(tenant.id(), ChangeType.SESSION_ENDED, Map.of("session", "0123456789ab"));
    notes().note(missing, ChangeType.SESSION_ENDED, Map.of());

    assertThat(tenants().find(tenant.id())).contains(tenant);
    assertThat(tenants().find(missing)).isEmpty();
  }

  @Test
  void search_continues_after_a_removed_tenant() {
    List<Tenant> all = IntStream.range(0, 4).mapToObj(i -> created(GOLD)).toList();
    TenantFilter filter = filter("t-", Optional.of(GOLD.name()), false);
    Page<Tenant> first = tenants().search(filter, Optional.empty(), 2);
    tenants().remove(first.items().get(1).id(), 1);

    Page<Tenant> second = tenants().search(filter, first.next(), 2);

    assertThat(Stream.concat(first.items().stream(), second.items().stream()))
        .containsExactlyInAnyOrderElementsOf(all);
  }

  private static List<Tenant> parts(Function<Optional<String>, Page<Tenant>> listing, int max) {
    List<Tenant> all = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> part = listing.apply(cursor);
      assertThat(part.items()).hasSizeLessThanOrEqualTo(max);
      all.addAll(part.items());
      cursor = part.next();
    } while (cursor.isPresent());
    return all;
  }
}
