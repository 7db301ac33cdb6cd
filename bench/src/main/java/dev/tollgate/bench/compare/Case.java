package dev.tollgate.bench.compare;

import dev.tollgate.bench.contenders.Contender.Purpose;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * Who calls, on how many keys, and what the answer is.
 *
 * @param callers the callers at the same time
 * @param keys the keys that they share evenly
 */
record Case(int callers, int keys, Outcome outcome) {
  static final int MANY = 16;

  /** The cases of the tables, without their outcome. */
  static final List<Case> ADMITTED = cases(Outcome.ADMITTED);

  static final List<Case> REFUSED = cases(Outcome.REFUSED);

  /** The case in which too many could be admitted. */
  static final Case DRAINED = new Case(MANY, 1, Outcome.DRAINED);

  static final Case HANDSHAKE = new Case(1, 1, Outcome.HANDSHAKE);

  /** What the callers get. */
  enum Outcome {
    /** All are admitted. */
    ADMITTED(Purpose.PLENTY),
    /** All are refused. */
    REFUSED(Purpose.EMPTY),
    /** As many are admitted as there are tokens; it is measured how many. */
    DRAINED(Purpose.DRAINED),
    /** Sockets are opened. */
    HANDSHAKE(Purpose.PLENTY);

    private final Purpose purpose;

    Outcome(Purpose purpose) {
      this.purpose = purpose;
    }

    /** What the buckets are for. */
    Purpose purpose() {
      return purpose;
    }

    /** The name, for files. */
    String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The outcome with a name.
     *
     * @throws IllegalArgumentException if there is none
     */
    static Outcome of(String key) {
      return Arrays.stream(values())
          .filter(outcome -> outcome.key().equals(key))
          .findFirst()
          .orElseThrow(
              () ->
                  new IllegalArgumentException(
                      "outcome: %s (expected: one of %s)"
                          .formatted(key, Arrays.stream(values()).map(Outcome::key).toList())));
    }
  }

  private static List<Case> cases(Outcome outcome) {
    return List.of(
        new Case(1, 1, outcome), new Case(MANY, 1, outcome), new Case(MANY, MANY, outcome));
  }

  /** The case, for tables. */
  String title() {
    return callers == 1
        ? "1 caller"
        : "%d callers, %s".formatted(callers, keys == 1 ? "one key" : keys + " keys");
  }
}
