package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The values in a file that cannot be so, collected so that all are told at once. */
public final class FileErrors {
  private final String file;
  private final String unit;
  private final List<Mistake> mistakes = new ArrayList<>();

  /**
   * @param file as the user named it
   * @param unit what its parts are counted in: {@code line} or {@code row}
   */
  public FileErrors(String file, String unit) {
    this.file = file;
    this.unit = unit;
  }

  /**
   * Adds a mistake.
   *
   * @param number of the line or the row, from 1
   */
  public void add(long number, String field, String value, String expected) {
    mistakes.add(new Mistake(number, field, value, expected));
  }

  /** Whether there are any. */
  boolean any() {
    return !mistakes.isEmpty();
  }

  /**
   * Goes on only if nothing is wrong.
   *
   * @throws Failure that tells all mistakes
   */
  public void orFail() {
    if (mistakes.isEmpty()) {
      return;
    }
    String many = mistakes.size() == 1 ? "a value is" : mistakes.size() + " values are";
    Problem problem = Problem.of(file + ": " + many + " not valid; nothing was done");
    ArrayNode errors = problem.document().putArray("errors");
    mistakes.stream()
        .sorted(Comparator.comparingLong(Mistake::number))
        .forEach(
            mistake ->
                errors
                    .addObject()
                    .put(unit, mistake.number)
                    .put("field", mistake.field)
                    .put("value", mistake.value)
                    .put("expected", mistake.expected));
    throw Failure.usage(problem);
  }

  private record Mistake(long number, String field, String value, String expected) {}
}
