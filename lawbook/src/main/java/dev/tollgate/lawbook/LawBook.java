package dev.tollgate.lawbook;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * Checks a subject against laws, over many seeded histories. {@code -Dlawbook.seed=N} replays that
 * one history; {@code -Dlawbook.histories=N} plays N histories.
 *
 * @param <S> the maker of the subject under test
 */
public final class LawBook<S> {
  /** The system property with the seed of the only history to play. */
  public static final String SEED = "lawbook.seed";

  /** The system property with the number of histories to play. */
  public static final String HISTORIES = "lawbook.histories";

  /** The system property with the factor by which the default number of histories is multiplied. */
  public static final String TIMES = "tests.times";

  private static final int MAX_ATTEMPTS = 500;

  private final S subject;
  private final List<Law<S>> laws;
  private final LongFunction<History> histories;
  private final LongFunction<String> terms;

  private LawBook(
      S subject, List<Law<S>> laws, LongFunction<History> histories, LongFunction<String> terms) {
    this.subject = subject;
    this.laws = List.copyOf(laws);
    this.histories = histories;
    this.terms = terms;
  }

  /** Checks a limiter against all {@link LimiterLaws}. */
  public static LawBook<Limiter.Maker> ofLimiter(Limiter.Maker maker) {
    return new LawBook<>(
        maker,
        LimiterLaws.ALL,
        seed -> History.ofLimiter(seed, maker),
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** Checks a counter against all {@link CounterLaws}. */
  public static LawBook<Counter.Maker> ofCounter(Counter.Maker maker) {
    return new LawBook<>(
        maker,
        CounterLaws.ALL,
        History::ofCounter,
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** Checks a processor against all {@link ProcessorLaws}. */
  public static LawBook<Processor.Maker> ofProcessor(Processor.Maker maker) {
    return new LawBook<>(maker, ProcessorLaws.ALL, History::ofProcessor, seed -> "none");
  }

  /** Checks a line against all {@link LineLaws}. */
  public static LawBook<Line.Maker> ofLine(Line.Maker maker) {
    return new LawBook<>(
        maker,
        LineLaws.ALL,
        seed -> History.ofLine(seed, maker),
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** Checks a quota against all {@link QuotaLaws}. */
  public static LawBook<Quota.Maker> ofQuota(Quota.Maker maker) {
    return new LawBook<>(
        maker,
        QuotaLaws.ALL,
        seed -> History.ofQuota(seed, maker),
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** A copy that checks only these laws. */
  public LawBook<S> only(List<Law<S>> some) {
    return new LawBook<>(subject, some, histories, terms);
  }

  /**
   * Checks every law in {@code count} histories; the system properties override the number.
   *
   * @return in how many histories each law could be checked
   * @throws LawViolation for the first broken law
   */
  public Report hold(int count) {
    Long only = Long.getLong(SEED);
    return only == null
        ? hold(1, Integer.getInteger(HISTORIES, count * Integer.getInteger(TIMES, 1)))
        : replay(only);
  }

  /**
   * Checks every law in the history of one seed.
   *
   * @return which laws could be checked in it
   * @throws LawViolation for the first broken law
   */
  public Report replay(long seed) {
    return hold(seed, seed);
  }

  private Report hold(long first, long last) {
    Map<String, Integer> judged = new LinkedHashMap<>();
    laws.forEach(law -> judged.put(law.name(), 0));
    for (long seed = first; seed <= last; seed++) {
      History history = histories.apply(seed);
      Law.Runs<S> runs = new Law.Runs<>(subject, history);
      for (Law<S> law : laws) {
        CheckResult result = law.examine(runs);
        if (result instanceof CheckResult.Broken broken) {
          throw violation(law, history, broken);
        }
        judged.merge(law.name(), result instanceof CheckResult.Kept ? 1 : 0, Integer::sum);
      }
    }
    return new Report(last - first + 1, judged);
  }

  /**
   * The laws that are broken in at least one of {@code count} histories; for tests of the law book
   * itself.
   */
  List<Law<S>> broken(int count) {
    List<Law<S>> kept = new ArrayList<>(laws);
    for (long seed = 1; seed <= count; seed++) {
      Law.Runs<S> runs = new Law.Runs<>(subject, histories.apply(seed));
      kept.removeIf(law -> law.examine(runs) instanceof CheckResult.Broken);
    }
    return laws.stream().filter(law -> !kept.contains(law)).toList();
  }

  /** A violation in the shortest history; in the whole one, if it does not occur again. */
  private LawViolation violation(Law<S> law, History history, CheckResult.Broken first) {
    History shortest = shortest(law, history, first);
    CheckResult.Broken broken =
        law.examine(subject, shortest) instanceof CheckResult.Broken again ? again : first;
    return new LawViolation(law, terms.apply(history.seed()), history, shortest, broken);
  }

  /**
   * Shortens a history: removes steps, large blocks first, as long as the subject still breaks the
   * law.
   */
  private History shortest(Law<S> law, History history, CheckResult.Broken whole) {
    int attempts = 0;
    History shown =
        history.with(history.steps().subList(0, Math.min(whole.step(), history.steps().size())));
    if (!isBroken(law, shown)) {
      shown = history;
    }
    for (int block = Math.max(1, shown.steps().size() / 2); block > 0; block /= 2) {
      for (int at = shown.steps().size() - block; at >= 0; at -= block) {
        if (++attempts > MAX_ATTEMPTS) {
          return shown;
        }
        List<Step> fewer = new ArrayList<>(shown.steps());
        fewer.subList(at, at + block).clear();
        if (isBroken(law, history.with(fewer))) {
          shown = history.with(fewer);
        }
      }
    }
    return shown;
  }

  private boolean isBroken(Law<S> law, History history) {
    return law.examine(subject, history) instanceof CheckResult.Broken;
  }

  /**
   * The result of a check that found no broken law.
   *
   * @param histories the number of histories played
   * @param judged by the law's name, the number of histories in which it could be checked
   */
  public record Report(long histories, Map<String, Integer> judged) {
    /** The number of histories in which the law was checked and kept. */
    public int judged(Law<?> law) {
      return judged.getOrDefault(law.name(), 0);
    }

    @Override
    public String toString() {
      return histories + " histories; checked and kept in: " + judged;
    }
  }
}
