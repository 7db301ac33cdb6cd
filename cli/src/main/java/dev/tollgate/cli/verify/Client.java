package dev.tollgate.cli.verify;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * One client of a session: the frames that it has received in order, and how its socket was closed.
 * Waits end as soon as the frames are there.
 */
final class Client implements Deployment.Listener {
  private final Lock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();
  private final List<String> frames = new ArrayList<>();
  private OptionalInt closed = OptionalInt.empty();

  @Override
  public void frame(String text) {
    change(() -> frames.add(text));
  }

  @Override
  public void closed(int code) {
    change(() -> closed = OptionalInt.of(code));
  }

  private void change(Runnable change) {
    lock.lock();
    try {
      change.run();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** The frames so far. */
  List<String> frames() {
    lock.lock();
    try {
      return List.copyOf(frames);
    } finally {
      lock.unlock();
    }
  }

  /** The frames of a type so far. */
  List<String> frames(String type) {
    return frames().stream().filter(frame -> type.equals(type(frame))).toList();
  }

  private static String type(String frame) {
    return Json.parse(frame).flatMap(document -> Json.text(document, "type")).orElse("");
  }

  /** Waits until this many frames of a type have arrived; returns those that have. */
  List<String> await(String type, int count, Duration limit) {
    await(() -> frames(type).size() >= count, limit);
    return frames(type);
  }

  /** The answers of the routes so far, acceptances and errors. */
  List<String> answers() {
    return frames().stream().filter(frame -> type(frame).matches("accepted|error")).toList();
  }

  /** Waits until this many answers have arrived; returns those that have. */
  List<String> awaitAnswers(int count, Duration limit) {
    await(() -> answers().size() >= count, limit);
    return answers();
  }

  /** Waits until a frame with this text in it has arrived; returns whether it has. */
  boolean awaitText(String text, Duration limit) {
    BooleanSupplier arrived = () -> frames().stream().anyMatch(frame -> frame.contains(text));
    await(arrived, limit);
    return arrived.getAsBoolean();
  }

  /** Waits until the server closes the socket; returns the code, or empty if it stays open. */
  OptionalInt awaitClosed(Duration limit) {
    await(() -> closed.isPresent(), limit);
    return closed;
  }

  private void await(BooleanSupplier condition, Duration limit) {
    lock.lock();
    try {
      long left = limit.toNanos();
      while (left > 0 && !condition.getAsBoolean()) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    } finally {
      lock.unlock();
    }
  }
}
