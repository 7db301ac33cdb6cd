package dev.tollgate.core.tenant;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.util.EnumMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.FieldSource;

class LimitsTest {
  private static final Limits SIX = Limits.of(60, 5, 2, 10, 200, 60);
  static final Iterable<Tier> DEFAULTS = Tier.DEFAULTS;

  @ParameterizedTest
  @EnumSource
  void missing_limit_has_its_default_or_is_rejected_by_name(Limit limit) {
    Map<Limit, Long> values = new EnumMap<>(SIX.values());
    values.remove(limit);

    if (limit.defaultValue().isPresent()) {
      assertThat(new Limits(values).get(limit)).isEqualTo(limit.defaultValue().get());
    } else {
      assertThatThrownBy(() -> new Limits(values))
          .isInstanceOf(InvalidValue.class)
          .hasMessage(limit.key() + ": missing (expected: " + limit.expected() + ")");
    }
  }

  @Test
  void first_six_limits_have_no_default() {
    assertThat(Limit.values())
        .filteredOn(limit -> limit.defaultValue().isEmpty())
        .containsExactly(
            Limit.TENANT_PER_MINUTE,
            Limit.SESSION_PER_MINUTE,
            Limit.CONNECTIONS_PER_SESSION,
            Limit.TENANT_CONNECTIONS,
            Limit.SESSION_TTL,
            Limit.MESSAGES_PER_MINUTE);
  }

  @Test
  void idle_time_up_to_the_lifetime_is_valid() {
    assertThat(SIX.with(Map.of(Limit.SESSION_LIFETIME, 200L)).get(Limit.SESSION_LIFETIME))
        .isEqualTo(200);
    assertThatThrownBy(() -> SIX.with(Map.of(Limit.SESSION_LIFETIME, 199L)))
        .isInstanceOf(InvalidValue.class)
        .hasMessage("sessionTTL: 200 (expected: at most sessionLifetime, which is 199)");
  }

  @ParameterizedTest
  @FieldSource("DEFAULTS")
  void subject_cannot_take_all_connections_of_a_tenant_in_a_default_tier(Tier tier) {
    Limits limits = tier.limits();

    assertThat(
            limits.get(Limit.SESSIONS_PER_SUBJECT) * limits.get(Limit.CONNECTIONS_PER_SESSION) * 2)
        .isLessThan(limits.get(Limit.TENANT_CONNECTIONS));
  }
}
