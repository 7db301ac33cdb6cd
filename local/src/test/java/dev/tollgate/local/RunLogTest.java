package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.testing.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunLogTest {
  @TempDir private Path directory;

  @Test
  void a_line_that_is_no_text_is_written_and_those_after_it_too() throws IOException {
    Path file = directory.resolve("run.log");
    try (RunLog log =
        RunLog.open(new ManualClock(Instant.parse("2026-03-01T12:00:00Z")), Optional.of(file))) {
      log.event("one half of a pair: \ud83d");
      log.event("after it");
    }
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "2026-03-01T12:00:00Z one half of a pair: ?", "2026-03-01T12:00:00Z after it");
  }
}
