package dev.tollgate.league;

import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

/** Judges limiters by the law book. */
final class Judge {
  private static final Map<Law<Limiter.Maker>, String> LACKS =
      Map.of(
          LimiterLaws.THROUGHPUT, "its capacity is less than what accrues in twice its lateness",
          LimiterLaws.ALL_OR_NONE, "it promises nothing of claims for several tokens",
          LimiterLaws.CONSERVATION, "it does not show its counts",
          LimiterLaws.RETUNE_CONSERVES, "its terms cannot change, or only by a new limiter");

  private final int histories;

  /** A judge that plays this many histories per limiter. */
  Judge(int histories) {
    this.histories = histories;
  }

  /** The verdicts about one limiter, in the order of {@link LimiterLaws#ALL}. */
  Map<Law<Limiter.Maker>, Verdict> judge(Entry entry) {
    Map<Law<Limiter.Maker>, Verdict> verdicts = new LinkedHashMap<>();
    if (entry.limiter().isEmpty()) {
      LimiterLaws.ALL.forEach(law -> verdicts.put(law, new Verdict.NotApplicable(entry.why())));
      return verdicts;
    }
    List<Law<Limiter.Maker>> laws = new ArrayList<>(LimiterLaws.ALL);
    laws.removeAll(entry.notApplied().keySet());
    Limiter.Maker limiter = entry.limiter().get();
    Findings promised = findings(limiter, laws);
    Findings exact = promisesExactness(limiter) ? promised : findings(exactly(limiter), laws);
    for (Law<Limiter.Maker> law : LimiterLaws.ALL) {
      verdicts.put(law, verdict(law, entry, promised, exact));
    }
    return verdicts;
  }

  private static Verdict verdict(
      Law<Limiter.Maker> law, Entry entry, Findings promised, Findings exact) {
    if (entry.notApplied().containsKey(law)) {
      return new Verdict.NotApplicable(entry.notApplied().getOrDefault(law, ""));
    } else if (promised.broken().containsKey(law)) {
      return new Verdict.Broken(promised.broken().getOrDefault(law, 0L));
    } else if (!promised.judged().contains(law)) {
      return new Verdict.NotApplicable(LACKS.getOrDefault(law, "no history could be judged"));
    }
    return exact.broken().containsKey(law)
        ? new Verdict.Allowed(exact.broken().getOrDefault(law, 0L))
        : new Verdict.Kept();
  }

  /**
   * What the law book found.
   *
   * @param broken the first seed that breaks each broken law
   * @param judged the laws that could be checked and were kept in at least one history
   */
  private record Findings(Map<Law<?>, Long> broken, Set<Law<?>> judged) {}

  /** Plays each history, whatever the system properties of the law book say. */
  private Findings findings(Limiter.Maker limiter, List<Law<Limiter.Maker>> laws) {
    Map<Law<?>, Long> broken = new LinkedHashMap<>();
    Set<Law<?>> judged = new HashSet<>();
    List<Law<Limiter.Maker>> left = new ArrayList<>(laws);
    for (long seed = 1; seed <= histories; ) {
      try {
        LawBook.Report report = LawBook.ofLimiter(limiter).only(left).replay(seed);
        left.stream().filter(law -> report.judged(law) > 0).forEach(judged::add);
        seed++;
      } catch (LawViolation violation) {
        broken.put(violation.law(), violation.seed());
        left.remove(violation.law());
      }
    }
    return new Findings(broken, judged);
  }

  /** Whether a limiter always promises an exact bucket, so that it need not be judged twice. */
  private boolean promisesExactness(Limiter.Maker limiter) {
    return LongStream.rangeClosed(1, histories)
        .allMatch(
            seed ->
                exactly(limiter).terms(new Random(seed)).equals(limiter.terms(new Random(seed))));
  }

  /** The same limiter, judged as if it promised an exact bucket. */
  static Limiter.Maker exactly(Limiter.Maker limiter) {
    return new Limiter.Maker() {
      @Override
      public Limiter make(Setting setting) {
        return limiter.make(setting);
      }

      @Override
      public Terms terms(Random random) {
        Terms promised = limiter.terms(random);
        return new Terms(promised.rate(), promised.capacity());
      }
    };
  }
}
