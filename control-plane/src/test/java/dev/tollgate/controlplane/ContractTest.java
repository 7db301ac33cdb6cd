package dev.tollgate.controlplane;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.FillPolicy;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.tenant.Isolation;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.TenantStatus;
import dev.tollgate.http.testing.HttpContract;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The published contract has the same routes, names and ranges as the code. */
final class ContractTest {
  private static final HttpContract CONTRACT = ControlPlaneFixture.CONTRACT;

  private static void assertNames(JsonNode schema, Enum<?>... constants) {
    List<String> documented = new ArrayList<>();
    schema.path("enum").forEach(name -> documented.add(name.asText()));
    assertThat(documented)
        .containsExactlyInAnyOrderElementsOf(Arrays.stream(constants).map(Enum::name).toList());
  }

  @Test
  void contract_has_the_same_routes_as_the_code() {
    assertThat(CONTRACT.operations()).isEqualTo(new ControlPlaneFixture().api().routes().keys());
  }

  @ParameterizedTest
  @EnumSource
  void a_limit_has_the_same_range_in_the_contract(Limit limit) {
    JsonNode schema = CONTRACT.schema("LimitMembers").path("properties").path(limit.key());
    long least = schema.path("minimum").asLong();
    long maximum = schema.path("maximum").asLong();

    assertThat(limit.checkedInRequest(least)).isEqualTo(least);
    assertThat(limit.checkedInRequest(maximum)).isEqualTo(maximum);
    assertThatThrownBy(() -> limit.checkedInRequest(least - 1)).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> limit.checkedInRequest(maximum + 1)).isInstanceOf(InvalidValue.class);
  }

  @Test
  void contract_has_the_same_limits_as_the_code() {
    List<String> keys = Arrays.stream(Limit.values()).map(Limit::key).toList();

    assertThat(CONTRACT.schema("LimitMembers").path("properties").fieldNames())
        .toIterable()
        .containsExactlyElementsOf(keys);
    assertThat(CONTRACT.schema("Limit").path("enum"))
        .extracting(JsonNode::asText)
        .containsExactlyElementsOf(keys);
  }

  @Test
  void a_bucket_has_the_same_ranges_in_the_contract() {
    JsonNode rate = CONTRACT.schema("RatePerMinute");

    assertThat(rate.path("maximum").asLong()).isEqualTo(Rate.MAX_PER_MINUTE);
    assertThat(rate.path("minimum").decimalValue())
        .isEqualByComparingTo(new Rate(1).tokensPerMinute());
    assertThat(CONTRACT.schema("Capacity").path("maximum").asLong())
        .isEqualTo(BucketSpec.MAX_CAPACITY);
    assertThat(CONTRACT.schema("HibernateAfterMinutes").path("maximum").asLong())
        .isEqualTo(FillPolicy.MAX_MINUTES);
  }

  @Test
  void contract_has_all_constants() {
    assertNames(CONTRACT.schema("FillMode"), FillMode.values());
    assertNames(CONTRACT.schema("Isolation"), Isolation.values());
    assertNames(CONTRACT.schema("OnUnavailable"), OnUnavailable.values());
    assertNames(
        CONTRACT.schema("TenantMembers").path("properties").path("status"), TenantStatus.values());
  }
}
