package dev.tollgate.lawbook;

import java.time.Duration;
import java.time.Instant;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/** Ends a run because the subject broke a law. */
final class Violation extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String expected;
  private final String happened;

  Violation(String expected, String happened) {
    super(expected + ", but " + happened, null, false, false);
    this.expected = expected;
    this.happened = happened;
  }

  static void unless(boolean kept, String expected, Object happened) {
    if (!kept) {
      throw new Violation(expected, happened.toString());
    }
  }

  /** Runs a check, which may fail by any exception; returns its result. */
  static CheckResult checked(Runnable check, IntSupplier step, Supplier<Instant> now) {
    try {
      check.run();
      return new CheckResult.Kept();
    } catch (Violation broke) {
      return broken(step, now, broke.expected, broke.happened);
    } catch (RuntimeException thrown) {
      return broken(step, now, "an answer despite faults", thrown.toString());
    }
  }

  private static CheckResult broken(
      IntSupplier step, Supplier<Instant> now, String expected, String happened) {
    Duration after = Duration.between(Setting.START, now.get());
    return new CheckResult.Broken(step.getAsInt(), after, expected, happened);
  }
}
