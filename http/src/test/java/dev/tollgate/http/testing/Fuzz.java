package dev.tollgate.http.testing;

import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.LongStream;

/**
 * Runs a test on many generated cases, each from its own seed. The cases are those of the seeds
 * from 0 on, the same in each run, and one of a random seed. A failure shows its seed.
 *
 * <ul>
 *   <li>{@code -Dtests.times=N} runs N times as many cases.
 *   <li>{@code -Dfuzz.cases=N} runs the first N cases.
 *   <li>{@code -Dfuzz.seed=N} runs the case of this seed, or with {@code fuzz.cases} that many from
 *       it on.
 * </ul>
 */
public final class Fuzz {
  private Fuzz() {}

  /**
   * Runs the cases.
   *
   * @param standard the number of cases without any system property
   * @throws AssertionError if a case fails; the message has its seed
   */
  public static void each(int standard, Case test) {
    seeds(standard).forEach(seed -> run(seed, test));
  }

  /**
   * Runs the cases, and a check of invariants after every {@code often} cases and after the last.
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
      test.run(new RandomInput(seed));
    } catch (Exception | AssertionError | StackOverflowError failed) {
      throw new AssertionError("-Dfuzz.seed=" + seed + ": " + failed.getMessage(), failed);
    }
  }

  private static LongStream seeds(int standard) {
    if (System.getProperty("fuzz.seed") != null) {
      long first = Long.getLong("fuzz.seed", 0);
      return LongStream.range(first, first + Integer.getInteger("fuzz.cases", 1));
    }
    int count = Integer.getInteger("fuzz.cases", standard * Integer.getInteger("tests.times", 1));
    long random = ThreadLocalRandom.current().nextLong(Integer.MAX_VALUE);
    System.out.println("fuzz: seeds 0 to " + (count - 1) + ", and at random " + random);
    return LongStream.concat(LongStream.range(0, count), LongStream.of(random));
  }

  /** A generated case. */
  @FunctionalInterface
  public interface Case {
    /** Generates input, and fails if a check fails. */
    void run(RandomInput random) throws Exception;
  }
}
