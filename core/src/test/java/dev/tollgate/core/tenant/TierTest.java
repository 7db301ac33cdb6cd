package dev.tollgate.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Action;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import java.math.BigDecimal;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class TierTest {
  private static final Tier GOLD = Tier.DEFAULTS.get(2);

  private static Tier with(Map<Action, BucketTerms> buckets) {
    return new Tier(
        GOLD.name(),
        GOLD.isolation(),
        GOLD.limits(),
        buckets,
        FillPolicy.DEFAULT,
        OnUnavailable.ADMIT,
        true,
        Optional.empty(),
        1,
        1);
  }

  private static BucketTerms terms(String rate, long capacity) {
    return new BucketTerms(
        Optional.of(Rate.perMinute(new BigDecimal(rate))), Optional.of(capacity));
  }

  @Test
  void tenant_has_a_bucket_for_each_rate_limit_and_each_custom_action() {
    Tier tier = with(Map.of(new Action("send-email"), terms("0.2", 5)));
    Tenant tenant = Tenant.onboarded(new TenantId("acme"), tier, Overrides.NONE);
    assertThat(tenant.buckets())
        .containsExactly(
            Map.entry(Action.CONNECT, BucketSpec.ofRate(Rate.perMinute(180))),
            Map.entry(Action.MESSAGE, BucketSpec.ofRate(Rate.perMinute(6000))),
            Map.entry(
                new Action("send-email"),
                new BucketSpec(Rate.perMinute(new BigDecimal("0.2")), 5)));
  }

  @Test
  void override_replaces_a_limit_and_its_bucket() {
    Tenant tenant =
        Tenant.onboarded(
            new TenantId("acme"), GOLD, Overrides.of(Map.of(Limit.TENANT_PER_MINUTE, 7L)));
    assertThat(tenant.limits().get(Limit.TENANT_PER_MINUTE)).isEqualTo(7);
    assertThat(tenant.limits().get(Limit.TENANT_CONNECTIONS)).isEqualTo(1000);
    assertThat(tenant.buckets().get(Action.CONNECT))
        .isEqualTo(BucketSpec.ofRate(Rate.perMinute(7)));
  }

  @Test
  void tier_may_set_the_capacity_for_connect_but_not_the_rate() {
    Tier roomy = with(Map.of(Action.CONNECT, new BucketTerms(Optional.empty(), Optional.of(500L))));
    assertThat(roomy.bucketsUnder(Overrides.NONE))
        .containsEntry(Action.CONNECT, new BucketSpec(Rate.perMinute(180), 500));
    assertThatThrownBy(() -> with(Map.of(Action.CONNECT, terms("5", 5))))
        .isInstanceOf(InvalidValue.class)
        .hasMessage(
            "buckets.connect.ratePerMinute: 5 (expected: no rate; set limits.tenantPerMinute instead)");
  }

  @Test
  void custom_bucket_needs_a_rate() {
    assertThatThrownBy(
            () ->
                with(
                    Map.of(
                        new Action("email"), new BucketTerms(Optional.empty(), Optional.of(5L)))))
        .hasMessageContaining("buckets.email.ratePerMinute: missing");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, -1, 60_001, Long.MAX_VALUE})
  void limit_out_of_range_is_rejected_with_its_name_and_value(long value) {
    assertThatThrownBy(() -> GOLD.limits().with(Map.of(Limit.TENANT_PER_MINUTE, value)))
        .isInstanceOf(InvalidValue.class)
        .hasMessage("tenantPerMinute: " + value + " (expected: 1 to 60000)");
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 30_001, 50_000, 60_001})
  void connect_rate_that_the_row_of_a_count_cannot_take_is_rejected_in_requests_only(long value) {
    Limit limit = Limit.TENANT_PER_MINUTE;

    String why =
        value == 0
            ? ""
            : ": a connection writes the tenant's count twice, and DynamoDB writes an item at most"
                + " 1000 times a second";

    assertThat(limit.checkedInRequest(30_000)).isEqualTo(30_000);
    assertThatThrownBy(() -> limit.checkedInRequest(value))
        .isInstanceOf(InvalidValue.class)
        .hasMessage(
            "tenantPerMinute: " + value + " (expected: a whole number, 1 to 30000" + why + ")");
    assertThat(limit.checked(60_000)).as("in a row of an older release").isEqualTo(60_000);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "Acme",
        "a_b",
        "-a",
        "acme.",
        "ä",
        "a b",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
      })
  void malformed_tenant_id_is_rejected(String id) {
    assertThatThrownBy(() -> new TenantId(id)).hasMessageStartingWith("tenantId: ");
  }
}
