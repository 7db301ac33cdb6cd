package dev.tollgate.bench.line;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.bench.line.Ideal.RateChange;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class IdealTest {
  private static final List<Duration> AT_ONCE = Collections.nCopies(90, Duration.ZERO);

  private static Ideal ideal(Optional<RateChange> change) {
    return new Ideal(30, 30, change);
  }

  private static Duration last(Ideal ideal) {
    return ideal.admissions(AT_ONCE).get(89);
  }

  @Test
  void a_full_bucket_admits_its_capacity_at_once_and_then_at_its_rate() {
    List<Duration> admissions = ideal(Optional.empty()).admissions(AT_ONCE);

    assertThat(admissions.get(29)).isZero();
    assertThat(admissions.get(30)).isEqualTo(Duration.ofSeconds(2));
    assertThat(admissions.get(89)).isEqualTo(Duration.ofMinutes(2));
  }

  @Test
  void a_client_that_comes_after_its_token_does_not_wait() {
    assertThat(new Ideal(1, 30, Optional.empty()).admissions(List.of(seconds(0), seconds(7))))
        .containsExactly(seconds(0), seconds(7));
  }

  @Test
  void a_change_of_the_rate_counts_from_its_time() {
    assertThat(last(ideal(Optional.of(new RateChange(seconds(60), 60))))).isEqualTo(seconds(90));
    assertThat(last(ideal(Optional.of(new RateChange(seconds(60), 15))))).isEqualTo(seconds(180));
    assertThat(last(ideal(Optional.of(new RateChange(seconds(130), 15))))).isEqualTo(seconds(120));
  }

  @Test
  void minted_tokens_follow_the_rate() {
    assertThat(ideal(Optional.empty()).minted(seconds(60), seconds(300))).isEqualTo(120);
    assertThat(
            ideal(Optional.of(new RateChange(seconds(60), 15))).minted(seconds(30), seconds(120)))
        .isEqualTo(30);
  }

  private static Duration seconds(long seconds) {
    return Duration.ofSeconds(seconds);
  }
}
