package dev.tollgate.league;

import dev.tollgate.lawbook.Law;
import dev.tollgate.lawbook.LawBook;
import dev.tollgate.lawbook.LawViolation;
import dev.tollgate.lawbook.Limiter;
import dev.tollgate.lawbook.LimiterLaws;
import dev.tollgate.lawbook.Setting;
import dev.tollgate.lawbook.Terms;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Judges limiters by the law book. */
final class Judge {
  private static final Map<Law<Limiter.Maker>, String> LACKS =
      Map.of(
          LimiterLaws.NEVER_MORE, "no history could be judged",
          LimiterLaws.NEVER_LATE, "no history could be judged",
          LimiterLaws.THROUGHPUT, "its capacity is less than what accrues in twice its lateness",
          LimiterLaws.ALL_OR_NONE, "it promises nothing of claims for several tokens",
          LimiterLaws.CONSERVATION, "it does not show its counts",
          LimiterLaws.REFUSAL_IS_FREE, "no history could be judged",
          LimiterLaws.RETRY_AFTER, "no history could be judged",
          LimiterLaws.RETUNE_CONSERVES, "its terms cannot change",
          LimiterLaws.NEIGHBOURS, "no history could be judged");

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
    Findings exact = findings(exactly(limiter), laws);
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
      return new Verdict.Broken(promised.broken().get(law));
    } else if (promised.report().judged(law) == 0) {
      return new Verdict.NotApplicable(LACKS.getOrDefault(law, ""));
    }
    return exact.broken().containsKey(law)
        ? new Verdict.Allowed(exact.broken().get(law))
        : new Verdict.Kept();
  }

  /** The first seed that breaks each broken law, and a report about the others. */
  private record Findings(Map<Law<?>, Long> broken, LawBook.Report report) {}

  private Findings findings(Limiter.Maker limiter, List<Law<Limiter.Maker>> laws) {
    Map<Law<?>, Long> broken = new LinkedHashMap<>();
    while (true) {
      List<Law<Limiter.Maker>> left =
          laws.stream().filter(law -> !broken.containsKey(law)).toList();
      try {
        return new Findings(broken, LawBook.ofLimiter(limiter).only(left).hold(histories));
      } catch (LawViolation violation) {
        broken.put(violation.law(), violation.seed());
      }
    }
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
