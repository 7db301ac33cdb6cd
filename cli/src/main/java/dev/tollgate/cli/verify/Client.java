package dev.tollgate.cli.verify;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.function.BooleanSupplier;

/** One client of a session: its socket, and the frames that it has received in order. */
final class Client implements Deployment.Listener {
  private final Shell shell;
  private final List<String> frames = new ArrayList<>();
  private OptionalInt closed = OptionalInt.empty();

  Client(Shell shell) {
    this.shell = shell;
  }

  @Override
  public synchronized void frame(String text) {
    frames.add(text);
    notifyAll();
  }

  @Override
  public synchronized void closed(int code) {
    closed = OptionalInt.of(code);
    notifyAll();
  }

  /** The frames so far. */
  synchronized List<String> frames() {
    return List.copyOf(frames);
  }

  /** The frames of a type so far. */
  synchronized List<String> frames(String type) {
    return frames.stream().filter(frame -> type.equals(type(frame))).toList();
  }

  private static String type(String frame) {
    return Json.parse(frame).flatMap(document -> Json.text(document, "type")).orElse("");
  }

  /** Waits until this many frames of a type have arrived; returns those that have. */
  List<String> await(String type, int count, Duration limit) {
    await(() -> frames(type).size() >= count, limit);
    return frames(type);
  }

  /** Waits until this many frames have arrived; returns those that have. */
  List<String> await(int count, Duration limit) {
    await(() -> frames().size() >= count, limit);
    return frames();
  }

  /** Waits until the server closes the socket; returns the code, or empty if it stays open. */
  OptionalInt awaitClosed(Duration limit) {
    await(() -> closed.isPresent(), limit);
    return closed;
  }

  private synchronized void await(BooleanSupplier condition, Duration limit) {
    long end = shell.nanoTime().getAsLong() + limit.toNanos();
    try {
      while (!condition.getAsBoolean()) {
        long left = Math.floorDiv(end - shell.nanoTime().getAsLong(), 1_000_000L);
        if (left <= 0) {
          return;
        }
        wait(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }
}
