package dev.tollgate.bench.contenders;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.contenders.Contender.Purpose;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class LimitersTest {
  static Stream<Contender> inProcess() {
    return Stream.of(InProcessLimiters.resilience4j(), InProcessLimiters.guava());
  }

  @ParameterizedTest
  @MethodSource("inProcess")
  void empty_bucket_refuses_and_another_key_admits(Contender contender) {
    List<Limiter> limiters = contender.open(Purpose.EMPTY, 2);

    long admitted = IntStream.range(0, 12).filter(i -> limiters.get(0).tryAcquire()).count();

    assertThat(admitted)
        .isBetween(1L, contender.terms(Purpose.EMPTY).capacity() + contender.slack(Purpose.EMPTY));
    assertThat(limiters.get(0).tryAcquire()).isFalse();
    assertThat(limiters.get(1).tryAcquire()).isTrue();
  }

  @ParameterizedTest
  @MethodSource("inProcess")
  void bucket_with_plenty_admits(Contender contender) {
    Limiter limiter = contender.open(Purpose.PLENTY, 1).get(0);

    assertThat(IntStream.range(0, 1_000).allMatch(i -> limiter.tryAcquire())).isTrue();
  }
}
