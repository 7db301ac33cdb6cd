package dev.tollgate.cli.verify;

import dev.tollgate.cli.terminal.Shell;
import java.io.ByteArrayInputStream;
import java.io.PrintWriter;
import java.io.Writer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;

/** A shell without input or output, whose clock moves only when a command waits. */
final class QuietShell {
  private QuietShell() {}

  /** A shell that reads its time from {@code nanos}, and adds to it instead of waiting. */
  static Shell at(AtomicLong nanos) {
    PrintWriter nowhere = new PrintWriter(Writer.nullWriter());
    return new Shell(
        new ByteArrayInputStream(new byte[0]),
        nowhere,
        nowhere,
        Path.of("."),
        Optional.empty(),
        Map.of(),
        Optional.empty(),
        nanos::get,
        time -> nanos.addAndGet(time.toNanos()));
  }
}
