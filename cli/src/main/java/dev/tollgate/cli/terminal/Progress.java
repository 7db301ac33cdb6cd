package dev.tollgate.cli.terminal;

import java.time.Duration;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * Shows the progress of a long task: on a terminal in one line that is rewritten in place,
 * elsewhere in a new line every ten seconds. Other output must come after {@link #close}, or from
 * {@link #print}.
 */
public final class Progress implements AutoCloseable {
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(10);

  private final Shell shell;
  private final boolean shown;
  private final Optional<LiveLine> line;
  private final Optional<ScheduledExecutorService> clock;
  private long start;
  private long nextLine;
  private String verb = "";
  private String noun = "";
  private long total;
  private long done;
  private long failed;
  private String text = "";

  /**
   * @param shown false if nothing is to be shown, because a program reads the output
   */
  public Progress(Shell shell, boolean shown) {
    this.shell = shell;
    this.shown = shown;
    line = shell.terminal().filter(person -> shown).map(person -> new LiveLine(shell));
    clock = line.map(any -> Executors.newSingleThreadScheduledExecutor());
    // The time goes on while a step takes long.
    clock.ifPresent(it -> it.scheduleAtFixedRate(this::rewrite, 1, 1, TimeUnit.SECONDS));
    restart();
  }

  private void restart() {
    start = shell.nanoTime().getAsLong();
    nextLine = start + BETWEEN_LINES.toNanos();
  }

  /** Begins to count steps, such as {@code Imported 0 of 400 tenants}. */
  public synchronized void start(String verb, long total, String noun) {
    this.verb = verb;
    this.total = total;
    this.noun = noun;
    restart();
    showSteps();
  }

  /** Counts a step that ended. */
  public synchronized void step(boolean succeeded) {
    if (succeeded) {
      done++;
    } else {
      failed++;
    }
    showSteps();
  }

  private void showSteps() {
    String failures = failed == 0 ? "" : String.format(Locale.ROOT, ", %,d failed", failed);
    show(String.format(Locale.ROOT, "%s %,d of %,d %s%s", verb, done, total, noun, failures));
  }

  /** Shows what is done, such as {@code Checked 25 tenants}. */
  public synchronized void show(String text) {
    this.text = text;
    rewrite();
    long now = shell.nanoTime().getAsLong();
    if (shown && line.isEmpty() && now - nextLine >= 0) {
      nextLine = now + BETWEEN_LINES.toNanos();
      shell.printError(timed());
    }
  }

  /** Prints a line to standard error that stays. */
  public synchronized void print(String message) {
    line.ifPresent(LiveLine::clear);
    shell.printError(message);
    rewrite();
  }

  private synchronized void rewrite() {
    if (!text.isEmpty()) {
      line.ifPresent(it -> it.show(timed()));
    }
  }

  private String timed() {
    return text + ", " + (shell.nanoTime().getAsLong() - start) / 1_000_000_000 + " s";
  }

  /** Removes the line from the terminal. */
  @Override
  public synchronized void close() {
    clock.ifPresent(ScheduledExecutorService::shutdownNow);
    text = "";
    line.ifPresent(LiveLine::clear);
  }
}
