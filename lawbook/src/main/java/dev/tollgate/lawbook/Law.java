package dev.tollgate.lawbook;

import java.util.function.BiFunction;

/**
 * A law, and how to find out whether a subject keeps it in a history.
 *
 * @param <S> what it is for: {@link Limiter.Maker}s, {@link Counter.Maker}s or {@link
 *     Processor.Maker}s
 */
public final class Law<S> {
  private final String name;
  private final String text;
  private final BiFunction<S, History, Finding> examination;

  Law(String name, String text, BiFunction<S, History, Finding> examination) {
    this.name = name;
    this.text = text;
    this.examination = examination;
  }

  /** What it is called. */
  public String name() {
    return name;
  }

  /** What it says, in a sentence. */
  public String text() {
    return text;
  }

  /** Plays the history, as often as it takes, and says what came of it. */
  public Finding examine(S subject, History history) {
    return examination.apply(subject, history);
  }

  @Override
  public String toString() {
    return name;
  }
}
