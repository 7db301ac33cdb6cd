package dev.tollgate.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.lambda.LogLine;
import dev.tollgate.local.testing.ManualClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class RunLogTest {
  private static final ManualClock CLOCK = new ManualClock(Instant.parse("2026-03-01T12:00:00Z"));

  @TempDir private Path directory;

  @Test
  void a_line_that_is_no_text_is_written_and_those_after_it_too() throws IOException {
    Path file = directory.resolve("run.log");
    try (RunLog log = new RunLog(CLOCK, Optional.of(file))) {
      log.event("one half of a pair: \ud83d");
      log.event("after it");
    }
    assertThat(Files.readAllLines(file))
        .containsExactly(
            "2026-03-01T12:00:00Z one half of a pair: ?", "2026-03-01T12:00:00Z after it");
  }

  @Test
  void what_a_stranger_sends_cannot_look_like_an_entry() throws IOException {
    Path file = directory.resolve("run.log");
    try (RunLog log = new RunLog(CLOCK, Optional.of(file))) {
      log.event("value: x\n2026-03-01T12:00:00Z Authorizer forged\r\nmore\rover\u001b[2J\u202egpj");
      log.write(new LogLine(CLOCK.instant(), "Authorizer", "id", "a\u2028b\u0085c\ttab \n\n"));
    }

    assertThat(Files.readString(file).replace(System.lineSeparator(), "\n"))
        .isEqualTo(
            """
            2026-03-01T12:00:00Z value: x
                2026-03-01T12:00:00Z Authorizer forged
                more\\u000dover\\u001b[2J\\u202egpj
            2026-03-01T12:00:00Z Authorizer id a\\u2028b\\u0085c\ttab
            """);
  }

  @Test
  void a_log_under_attack_stays_small_and_the_same_file() throws IOException {
    Path file = directory.resolve("run.log");
    Path old = directory.resolve("run.log.1");
    try (RunLog log = new RunLog(CLOCK, Optional.of(file), 1_000);
        SeekableByteChannel tail = Files.newByteChannel(file)) {
      for (int i = 0; i < 1_000; i++) {
        log.event("refused " + i);
        assertThat(Files.size(file)).isLessThan(1_100);
      }
      assertThat(tail.size()).isEqualTo(Files.size(file)).isPositive();
    }

    assertThat(Files.size(old)).isBetween(1_000L, 1_100L);
    assertThat(Files.readAllLines(file).get(Files.readAllLines(file).size() - 1))
        .endsWith("refused 999");
    assertThat(Stream.of(file, old)).allSatisfy(RunLogTest::isOwnersAlone);
    try (Stream<Path> files = Files.list(directory)) {
      assertThat(files).containsExactlyInAnyOrder(file, old);
    }
  }

  @Test
  void a_log_that_others_could_read_is_closed_to_them_and_its_size_counts() throws IOException {
    Path file = Files.writeString(directory.resolve("run.log"), "x".repeat(2_000) + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r--r--"));

    try (RunLog log = new RunLog(CLOCK, Optional.of(file), 1_000)) {
      log.event("first");
    }

    isOwnersAlone(file);
    assertThat(Files.readString(file)).isEqualTo("2026-03-01T12:00:00Z first\n");
  }

  private static void isOwnersAlone(Path file) {
    try {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .isEqualTo("rw-------");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
