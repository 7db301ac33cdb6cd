package dev.tollgate.core.bucket;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.limiter.TollgateLine;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LineLaws;
import org.junit.jupiter.api.Test;

/** Checks Tollgate's line against the law book. */
final class LineLawsTest {
  private static final int HISTORIES = 200;

  @Test
  void lines_keep_every_law() {
    LawBook.Report report = LawBook.ofLine(TollgateLine.inMemory()).hold(HISTORIES);
    System.out.println(report);
    LineLaws.ALL.forEach(law -> assertThat(report.judged(law)).as(law.name()).isGreaterThan(0));
  }
}
