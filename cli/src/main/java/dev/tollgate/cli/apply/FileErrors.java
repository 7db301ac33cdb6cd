package dev.tollgate.cli.apply;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Problem;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/** The invalid values of a file, collected so that one message can list all of them. */
public final class FileErrors {
  private final String file;
  private final String unit;
  private final List<InvalidValue> invalidValues = new ArrayList<>();

  /**
   * @param file the file's name as the user wrote it
   * @param unit what the file's parts are counted in: {@code line} or {@code row}
   */
  public FileErrors(String file, String unit) {
    this.file = file;
    this.unit = unit;
  }

  /**
   * Adds an invalid value.
   *
   * @param number the number of the line or row, from 1
   */
  public void add(long number, String field, String value, String expected) {
    invalidValues.add(new InvalidValue(number, field, value, expected));
  }

  boolean any() {
    return !invalidValues.isEmpty();
  }

  /**
   * Returns normally only if the file has no invalid values.
   *
   * @throws Failure that lists all of them, in the order of the file
   */
  public void throwIfAny() {
    if (invalidValues.isEmpty()) {
      return;
    }
    int count = invalidValues.size();
    Problem problem =
        Problem.of(
            "%s: %d invalid value%s. Nothing was changed."
                .formatted(file, count, count == 1 ? "" : "s"));
    ArrayNode errors = problem.document().putArray("errors");
    invalidValues.stream()
        .sorted(Comparator.comparingLong(InvalidValue::number))
        .forEach(
            invalid ->
                errors
                    .addObject()
                    .put(unit, invalid.number)
                    .put("field", invalid.field)
                    .put("value", invalid.value)
                    .put("expected", invalid.expected));
    throw Failure.usage(problem);
  }

  private record InvalidValue(long number, String field, String value, String expected) {}
}
