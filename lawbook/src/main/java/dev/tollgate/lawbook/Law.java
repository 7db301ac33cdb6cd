package dev.tollgate.lawbook;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A law, and the check whether a subject keeps it in a history.
 *
 * @param <S> the kind of subject: {@link Limiter.Maker}s, {@link Counter.Maker}s or {@link
 *     Processor.Maker}s
 */
public final class Law<S> {
  private final String name;
  private final String text;
  private final Function<Runs<S>, CheckResult> check;

  Law(String name, String text, Function<Runs<S>, CheckResult> check) {
    this.name = name;
    this.text = text;
    this.check = check;
  }

  /** The law's short name. */
  public String name() {
    return name;
  }

  /** The law in full sentences. */
  public String text() {
    return text;
  }

  /** Checks the law in a history, which may take several runs. */
  public CheckResult examine(S subject, History history) {
    return examine(new Runs<>(subject, history));
  }

  CheckResult examine(Runs<S> runs) {
    return check.apply(runs);
  }

  @Override
  public String toString() {
    return name;
  }

  /**
   * The runs of a subject in one history. Laws that need the same kind of run share it.
   *
   * @param <S> the maker of the subject
   */
  static final class Runs<S> {
    private final S subject;
    private final History history;
    private final Map<BiFunction<S, History, ?>, Object> finished = new HashMap<>();

    Runs(S subject, History history) {
      this.subject = subject;
      this.history = history;
    }

    S subject() {
      return subject;
    }

    History history() {
      return history;
    }

    /** The run of this kind, which is made at the first call. */
    @SuppressWarnings("unchecked") // Each kind is the key of its own result.
    <R> R of(BiFunction<S, History, R> kind) {
      return (R) finished.computeIfAbsent(kind, any -> kind.apply(subject, history));
    }
  }
}
