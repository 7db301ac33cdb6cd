package dev.tollgate.lawbook;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;

/**
 * Laws that a subject is held to, over many seeded histories. {@code -Dlawbook.seed=N} plays that
 * history alone, {@code -Dlawbook.histories=N} plays so many.
 *
 * @param <S> what is held to them
 */
public final class LawBook<S> {
  /** The property that names the one history to play. */
  public static final String SEED = "lawbook.seed";

  /** The property that says how many histories to play. */
  public static final String HISTORIES = "lawbook.histories";

  /** The property that says how many times the usual number of histories to play. */
  public static final String TIMES = "tests.times";

  private static final int MOST_ATTEMPTS = 500;

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

  /** All the laws of {@link LimiterLaws} for a limiter. */
  public static LawBook<Limiter.Maker> ofLimiter(Limiter.Maker maker) {
    return new LawBook<>(
        maker,
        LimiterLaws.ALL,
        seed -> History.ofLimiter(seed, maker),
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** All the laws of {@link CounterLaws} for what counts. */
  public static LawBook<Counter.Maker> ofCounter(Counter.Maker maker) {
    return new LawBook<>(
        maker,
        CounterLaws.ALL,
        History::ofCounter,
        seed -> maker.terms(History.terms(seed)).toString());
  }

  /** All the laws of {@link ProcessorLaws} for what processes messages. */
  public static LawBook<Processor.Maker> ofProcessor(Processor.Maker maker) {
    return new LawBook<>(maker, ProcessorLaws.ALL, History::ofProcessor, seed -> "its own");
  }

  /** The same subject held to these laws only. */
  public LawBook<S> only(List<Law<S>> some) {
    return new LawBook<>(subject, some, histories, terms);
  }

  /**
   * Plays so many histories under every law, unless the properties say otherwise.
   *
   * @return how many of them each law could be judged in
   * @throws Breach for the first law that is broken
   */
  public Report hold(int count) {
    Long only = Long.getLong(SEED);
    return only == null
        ? hold(1, Integer.getInteger(HISTORIES, count * Integer.getInteger(TIMES, 1)))
        : replay(only);
  }

  /**
   * Plays the history of one seed under every law.
   *
   * @return which laws it could be judged by
   * @throws Breach for the first law that is broken
   */
  public Report replay(long seed) {
    return hold(seed, seed);
  }

  private Report hold(long first, long last) {
    Map<String, Integer> judged = new LinkedHashMap<>();
    laws.forEach(law -> judged.put(law.name(), 0));
    for (long seed = first; seed <= last; seed++) {
      History history = histories.apply(seed);
      for (Law<S> law : laws) {
        Finding finding = law.examine(subject, history);
        if (finding instanceof Finding.Broken) {
          throw breach(law, history);
        }
        judged.merge(law.name(), finding instanceof Finding.Kept ? 1 : 0, Integer::sum);
      }
    }
    return new Report(last - first + 1, judged);
  }

  /** The laws that are broken in one of so many histories; for the trial of the law book itself. */
  List<Law<S>> broken(int count) {
    List<Law<S>> found = new ArrayList<>();
    for (Law<S> law : laws) {
      for (long seed = 1; seed <= count; seed++) {
        if (law.examine(subject, histories.apply(seed)) instanceof Finding.Broken) {
          found.add(law);
          break;
        }
      }
    }
    return found;
  }

  private Breach breach(Law<S> law, History history) {
    History shortest = shortest(law, history);
    Finding.Broken broken = (Finding.Broken) law.examine(subject, shortest);
    return new Breach(law, terms.apply(history.seed()), history, shortest, broken);
  }

  /** Leaves out whatever the law is broken without, in large pieces first. */
  private History shortest(Law<S> law, History history) {
    int attempts = 0;
    Finding.Broken whole = (Finding.Broken) law.examine(subject, history);
    History shown =
        history.with(history.steps().subList(0, Math.min(whole.step(), history.steps().size())));
    if (!isBroken(law, shown)) {
      shown = history;
    }
    for (int piece = Math.max(1, shown.steps().size() / 2); piece > 0; piece /= 2) {
      for (int at = shown.steps().size() - piece; at >= 0; at -= piece) {
        if (++attempts > MOST_ATTEMPTS) {
          return shown;
        }
        List<Step> fewer = new ArrayList<>(shown.steps());
        fewer.subList(at, at + piece).clear();
        if (isBroken(law, history.with(fewer))) {
          shown = history.with(fewer);
        }
      }
    }
    return shown;
  }

  private boolean isBroken(Law<S> law, History history) {
    return law.examine(subject, history) instanceof Finding.Broken;
  }

  /**
   * What was found: no law was broken.
   *
   * @param histories how many were played
   * @param judged for each law, in how many of them it could be judged
   */
  public record Report(long histories, Map<String, Integer> judged) {
    /** In how many histories the law was kept, and not merely not judged. */
    public int judged(Law<?> law) {
      return judged.getOrDefault(law.name(), 0);
    }

    @Override
    public String toString() {
      return histories + " histories; kept, of those that say anything: " + judged;
    }
  }
}
