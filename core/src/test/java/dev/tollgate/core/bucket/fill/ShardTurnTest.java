package dev.tollgate.core.bucket.fill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.bucket.Shard;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

final class ShardTurnTest {
  private static final Shard SHARD = Shard.of(new TenantId("acme"));
  private static final ShardTurn WHOLE =
      ShardTurn.whole(SHARD, Instant.parse("2026-03-01T12:00:00Z"));

  @Test
  void event_of_a_whole_turn_has_no_cursor() {
    assertThat(WHOLE.toEvent())
        .isEqualTo(
            Map.of(
                "shard", SHARD.toString(), "scheduledTime", "2026-03-01T12:00:00Z", "part", "0"));
  }

  @Test
  void event_of_a_later_part_has_the_cursor_of_the_buckets_that_are_left() {
    ShardTurn later = WHOLE.from(Optional.of("cursor")).next().orElseThrow();

    assertThat(later.toEvent()).containsEntry("part", "1").containsEntry("after", "cursor");
  }

  @Test
  void part_out_of_range_is_rejected() {
    for (int part : new int[] {-1, ShardTurn.MAX_PARTS}) {
      assertThatThrownBy(() -> new ShardTurn(SHARD, WHOLE.minute(), Optional.empty(), part))
          .isInstanceOf(InvalidValue.class)
          .hasMessage("part: " + part + " (expected: 0 to 7)");
    }
  }
}
