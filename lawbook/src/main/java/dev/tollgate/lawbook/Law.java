package dev.tollgate.lawbook;

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
}
