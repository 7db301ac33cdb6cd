package dev.tollgate.lawbook;

import java.util.HashMap;
import java.util.Map;
import java.util.function.BiFunction;

/**
 * The runs of a subject in one history. Laws that need the same kind of run share it.
 *
 * @param <S> the maker of the subject
 */
final class Runs<S> {
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
