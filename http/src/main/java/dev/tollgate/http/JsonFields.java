package dev.tollgate.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.core.InvalidValue;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * The fields of one JSON object, read strictly: a number in quotes is not a number, {@code 1.0} is
 * not a whole number, and {@code null} is no value at all. What is refused is named by its path,
 * such as {@code overrides.sessionTTL}.
 */
public final class JsonFields {
  private static final int LONGEST = 100;

  private final String path;
  private final JsonNode object;

  private JsonFields(String path, JsonNode object) {
    this.path = path;
    this.object = object;
  }

  /**
   * The fields of the object that a text is.
   *
   * @throws InvalidValue if it is not JSON, has a name twice, or is no object
   */
  public static JsonFields of(String text) {
    JsonNode value = Json.read(text);
    InvalidValue.unless(value.isObject(), "body", value, "a JSON object");
    return new JsonFields("", value);
  }

  /**
   * Refuses a field of any other name.
   *
   * @return this
   * @throws InvalidValue if there is one
   */
  public JsonFields only(String... known) {
    Set<String> expected = new TreeSet<>(Arrays.asList(known));
    Iterator<String> names = object.fieldNames();
    while (names.hasNext()) {
      String name = names.next();
      InvalidValue.unless(
          expected.contains(name),
          path + name,
          object.path(name),
          "a known field, one of: " + String.join(", ", expected));
    }
    return this;
  }

  /** The names that there are, in the order in which they were sent. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  /**
   * A text.
   *
   * @throws InvalidValue if it is missing or something else
   */
  public String text(String name, String expected) {
    return optionalText(name, expected).orElseThrow(() -> missing(name, expected));
  }

  /**
   * A text, if the field is there.
   *
   * @throws InvalidValue if it is something else
   */
  public Optional<String> optionalText(String name, String expected) {
    return value(name).map(value -> checked(value.isTextual(), name, value, expected).textValue());
  }

  /**
   * A whole number.
   *
   * @throws InvalidValue if it is missing or something else
   */
  public long wholeNumber(String name, String expected) {
    return optionalWholeNumber(name, expected).orElseThrow(() -> missing(name, expected));
  }

  /**
   * A whole number, if the field is there.
   *
   * @throws InvalidValue if it is something else
   */
  public Optional<Long> optionalWholeNumber(String name, String expected) {
    return value(name)
        .map(
            value ->
                checked(value.isIntegralNumber() && value.canConvertToLong(), name, value, expected)
                    .longValue());
  }

  /**
   * A number, if the field is there.
   *
   * @throws InvalidValue if it is something else, or has more than 100 digits when written out
   */
  public Optional<BigDecimal> optionalNumber(String name, String expected) {
    return value(name).map(value -> checked(isShort(value), name, value, expected).decimalValue());
  }

  private static boolean isShort(JsonNode value) {
    return value.isNumber()
        && value.decimalValue().precision() <= LONGEST
        && Math.abs((long) value.decimalValue().scale()) <= LONGEST;
  }

  /**
   * The fields of an object.
   *
   * @throws InvalidValue if it is missing or something else
   */
  public JsonFields object(String name) {
    return optionalObject(name).orElseThrow(() -> missing(name, "an object"));
  }

  /**
   * The fields of an object, if the field is there.
   *
   * @throws InvalidValue if it is something else
   */
  public Optional<JsonFields> optionalObject(String name) {
    return value(name)
        .map(
            value ->
                new JsonFields(
                    path + name + ".", checked(value.isObject(), name, value, "an object")));
  }

  /**
   * One of these constants, by its name, if the field is there.
   *
   * @throws InvalidValue if it is something else
   */
  public <E extends Enum<E>> Optional<E> optionalOneOf(String name, List<E> constants) {
    String expected = String.join(" or ", constants.stream().map(Enum::name).toList());
    return optionalText(name, expected)
        .map(
            text ->
                constants.stream()
                    .filter(constant -> constant.name().equals(text))
                    .findFirst()
                    .orElseThrow(() -> new InvalidValue(path + name, text, expected)));
  }

  /** The refusal of a field that is not there. */
  public InvalidValue missing(String name, String expected) {
    return new InvalidValue(path + name, "missing", expected);
  }

  private Optional<JsonNode> value(String name) {
    return Optional.ofNullable(object.get(name));
  }

  private JsonNode checked(boolean valid, String name, JsonNode value, String expected) {
    InvalidValue.unless(valid, path + name, value, expected);
    return value;
  }
}
