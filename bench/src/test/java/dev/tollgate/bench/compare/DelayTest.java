package dev.tollgate.bench.compare;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class DelayTest {
  private static List<Long> block(LongSupplier nanos) {
    return LongStream.generate(nanos).limit(Delay.BLOCK).boxed().toList();
  }

  @Test
  void fixed_delay_is_always_the_same() {
    assertThat(block(Delay.FIXED.nanos(1))).containsOnly(TimeUnit.MILLISECONDS.toNanos(5));
  }

  @Test
  void tail_has_the_published_quantiles() {
    assertThat(Delay.TAIL.millisAt(0.5)).isEqualTo(6);
    assertThat(Delay.TAIL.millisAt(0.7)).isCloseTo(23, within(1e-9));
    assertThat(Delay.TAIL.millisAt(0.9)).isEqualTo(40);
    assertThat(Delay.TAIL.millisAt(0.97)).isEqualTo(95);
    assertThat(Delay.TAIL.millisAt(1)).isEqualTo(5_000);
  }

  @Test
  void each_block_has_the_same_delays_in_another_order() {
    LongSupplier nanos = Delay.TAIL.nanos(7);
    List<Long> first = block(nanos);
    List<Long> second = block(nanos);

    assertThat(second).containsExactlyInAnyOrderElementsOf(first).isNotEqualTo(first);
    assertThat(first.stream().filter(one -> one <= TimeUnit.MILLISECONDS.toNanos(6))).hasSize(100);
    assertThat(first.stream().filter(one -> one <= TimeUnit.MILLISECONDS.toNanos(40))).hasSize(180);
  }

  @Test
  void same_seed_gives_the_same_delays() {
    assertThat(block(Delay.TAIL.nanos(3)))
        .isEqualTo(block(Delay.TAIL.nanos(3)))
        .isNotEqualTo(block(Delay.TAIL.nanos(4)));
  }

  @Test
  void unknown_label_is_refused() {
    assertThatThrownBy(() -> Delay.of("6 ms")).hasMessageContaining("6 ms (expected: 5 ms,");
  }
}
