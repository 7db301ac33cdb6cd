package dev.tollgate.league;

/** What the law book found of one limiter and one law. */
public sealed interface Verdict {
  /** The limiter kept the law in every history, also if its terms had no allowance. */
  record Kept() implements Verdict {
    @Override
    public String toString() {
      return "kept";
    }
  }

  /**
   * The limiter kept the law within what its documentation allows. An exact bucket would not need
   * that.
   *
   * @param seed the first history in which an exact bucket would answer otherwise
   */
  record Allowed(long seed) implements Verdict {
    @Override
    public String toString() {
      return "terms, " + seed;
    }
  }

  /**
   * The limiter broke the law although its documentation promises to keep it.
   *
   * @param seed the first such history
   */
  record Broken(long seed) implements Verdict {
    @Override
    public String toString() {
      return "BROKEN, " + seed;
    }
  }

  /**
   * The law was not checked.
   *
   * @param why what the limiter lacks, or does not promise
   */
  record NotApplicable(String why) implements Verdict {
    @Override
    public String toString() {
      return "–";
    }
  }
}
