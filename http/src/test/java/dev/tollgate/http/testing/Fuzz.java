package dev.tollgate.http.testing;

import java.util.stream.LongStream;

/**
 * Runs a test on many made-up cases. Each is of a seed, which a failure tells: {@code
 * -Dfuzz.seed=N} begins there, and runs that one only unless {@code -Dfuzz.cases=N} says how many.
 * Without either, a test's cases are those of the seeds from 0 on, the same each time.
 */
public final class Fuzz {
  private Fuzz() {}

  /**
   * Runs the cases.
   *
   * @param standard how many there are if nothing else is said
   * @throws AssertionError of the first case that fails, with its seed
   */
  public static void each(int standard, Case test) {
    seeds(standard).forEach(seed -> run(seed, test));
  }

  /**
   * Runs the cases, and another test after each so many and after the last: of what must hold
   * whatever came before.
   */
  public static void each(int standard, Case test, int often, Case between) {
    long[] seeds = seeds(standard).toArray();
    for (int i = 0; i < seeds.length; i++) {
      run(seeds[i], test);
      if (i % often == often - 1 || i == seeds.length - 1) {
        run(seeds[i], between);
      }
    }
  }

  private static void run(long seed, Case test) {
    try {
      test.run(new Hostile(seed));
    } catch (Exception | AssertionError | StackOverflowError failed) {
      throw new AssertionError("-Dfuzz.seed=" + seed + ": " + failed.getMessage(), failed);
    }
  }

  private static LongStream seeds(int standard) {
    boolean told = System.getProperty("fuzz.seed") != null;
    long first = Long.getLong("fuzz.seed", 0);
    return LongStream.range(first, first + Integer.getInteger("fuzz.cases", told ? 1 : standard));
  }

  /** One made-up case. */
  @FunctionalInterface
  public interface Case {
    /** Makes up what it needs, and fails if something is wrong. */
    void run(Hostile hostile) throws Exception;
  }
}
