package dev.tollgate.core.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class RefusalCountsTest {
  private static final Instant NOW = Instant.parse("2026-03-01T12:00:00Z");

  private static RefusalCounts counts(Map<Refusal, Long> refused, Map<Refusal, Long> observed) {
    return new RefusalCounts(refused, observed, NOW, Optional.empty(), Optional.empty());
  }

  @Test
  void counts_of_nothing_are_refused() {
    Map<Refusal, Long> none = Map.of(Refusal.TENANT_RATE, 0L);

    assertThatThrownBy(() -> counts(Map.of(), Map.of())).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> counts(none, Map.of())).isInstanceOf(InvalidValue.class);
    assertThatThrownBy(() -> counts(Map.of(), none)).isInstanceOf(InvalidValue.class);
  }

  @Test
  void sum_tells_refused_connections_from_observed_ones() {
    RefusalCounts sum =
        RefusalCounts.of(Refusal.TENANT_RATE, NOW)
            .and(RefusalCounts.ofObserved(Refusal.TENANT_RATE, NOW));

    assertThat(sum.refused()).isEqualTo(1);
    assertThat(sum.count()).isEqualTo(2);
  }

  @Test
  void sum_keeps_when_a_limit_of_connections_refused_last() {
    Instant later = NOW.plusSeconds(1);
    RefusalCounts other = RefusalCounts.of(Refusal.TENANT_RATE, later);

    assertThat(RefusalCounts.of(Refusal.TENANT_CONNECTIONS, NOW).and(other).tenantFullAt())
        .contains(NOW);
    assertThat(RefusalCounts.of(Refusal.SESSION_CONNECTIONS, NOW).and(other).sessionFullAt())
        .contains(NOW);
  }
}
