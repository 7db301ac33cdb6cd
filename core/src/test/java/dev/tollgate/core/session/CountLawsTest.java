package dev.tollgate.core.session;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.TollgateCounter;
import dev.tollgate.lawbook.LawBook;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Our count of connections is held to the law book. */
final class CountLawsTest {
  private static final int HISTORIES = 500;

  @ParameterizedTest
  @ValueSource(ints = {0, 20, 100})
  void whatever_goes_wrong_counts_keep_the_law(int perMille) {
    LawBook.Report report = LawBook.ofCounter(TollgateCounter.inMemory(perMille)).hold(HISTORIES);
    assertThat(report.judged()).hasSize(3);
  }
}
