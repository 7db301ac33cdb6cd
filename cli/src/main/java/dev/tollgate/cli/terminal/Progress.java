package dev.tollgate.cli.terminal;

import java.io.PrintWriter;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Locale;
import java.util.Optional;
import java.util.function.LongSupplier;
import me.tongfei.progressbar.ProgressBar;
import me.tongfei.progressbar.ProgressBarBuilder;
import me.tongfei.progressbar.ProgressBarConsumer;
import me.tongfei.progressbar.ProgressBarStyle;

/**
 * Shows the progress, speed and remaining time of a long task: as a bar on a terminal, elsewhere as
 * a line every ten seconds.
 */
public final class Progress implements AutoCloseable {
  private static final Duration BETWEEN_LINES = Duration.ofSeconds(10);

  private final PrintWriter err;
  private final LongSupplier nanoTime;
  private final String task;
  private final long total;
  private final Optional<ProgressBar> bar;
  private final long start;
  private long done;
  private long nextLine;

  /**
   * @param task the name of the task, such as {@code Onboarding}
   * @param total the number of steps
   */
  public Progress(Shell shell, String task, long total) {
    this.err = shell.err();
    this.nanoTime = shell.nanoTime();
    this.task = task;
    this.total = total;
    this.bar = shell.terminal().map(terminal -> bar(terminal.bar().get(), task, total));
    this.start = nanoTime.getAsLong();
    this.nextLine = start + BETWEEN_LINES.toNanos();
  }

  private static ProgressBar bar(ProgressBarConsumer consumer, String task, long total) {
    return new ProgressBarBuilder()
        .setTaskName(task)
        .setInitialMax(total)
        .setStyle(ProgressBarStyle.ASCII)
        .setUpdateIntervalMillis(250)
        .showSpeed()
        .setSpeedUnit(ChronoUnit.SECONDS)
        .setConsumer(consumer)
        .build();
  }

  /** Counts one finished step. */
  public synchronized void step() {
    done++;
    bar.ifPresent(ProgressBar::step);
    long now = nanoTime.getAsLong();
    if (bar.isEmpty() && now - nextLine >= 0) {
      nextLine = now + BETWEEN_LINES.toNanos();
      double perSecond = done / seconds(now - start);
      err.printf(
          Locale.ROOT,
          "%s: %,d of %,d, %.1f per second, %.0f s left%n",
          task,
          done,
          total,
          perSecond,
          (total - done) / perSecond);
      err.flush();
    }
  }

  private static double seconds(long nanos) {
    return nanos / 1e9;
  }

  @Override
  public void close() {
    bar.ifPresent(ProgressBar::close);
  }
}
