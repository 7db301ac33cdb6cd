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
 * not a whole number, and {@code null} is not a value. Errors name a field by its path, such as
 * {@code overrides.sessionTTL}.
 */
public final class JsonFields {
  private static final int MAX_DIGITS = 100;

  private final String path;
  private final JsonNode object;

  private JsonFields(String path, JsonNode object) {
    this.path = path;
    this.object = object;
  }

  /**
   * Parses a JSON object.
   *
   * @throws InvalidValue if the text is not a JSON object, or a name occurs twice
   */
  public static JsonFields of(String text) {
    JsonNode value = Json.read(text);
    InvalidValue.unless(value.isObject(), "body", value, "a JSON object");
    return new JsonFields("", value);
  }

  /**
   * Parses a JSON object that contains a message of any JSON. The field {@code verbatim} is then a
   * text: the source text of its value, byte for byte.
   *
   * @throws InvalidValue if the text is not a JSON object, or a name occurs twice outside of the
   *     message
   */
  static JsonFields of(String text, String verbatim) {
    return new JsonFields("", Json.read(text, verbatim));
  }

  /**
   * Refuses unknown fields.
   *
   * @param known the names of the allowed fields
   * @return this
   * @throws InvalidValue if the object has another field
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

  /** The names of the fields, in the order of the text. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    object.fieldNames().forEachRemaining(names::add);
    return names;
  }

  /**
   * The field's text.
   *
   * @param expected what the error message calls a valid value; the same for the other methods
   * @throws InvalidValue if the field is missing or not a text
   */
  public String text(String name, String expected) {
    return optionalText(name, expected).orElseThrow(() -> missing(name, expected));
  }

  /**
   * The field's text; empty if the field is missing.
   *
   * @throws InvalidValue if the field is not a text
   */
  public Optional<String> optionalText(String name, String expected) {
    return value(name).map(value -> checked(value.isTextual(), name, value, expected).textValue());
  }

  /**
   * The field's whole number.
   *
   * @throws InvalidValue if the field is missing or not a whole number
   */
  public long wholeNumber(String name, String expected) {
    return optionalWholeNumber(name, expected).orElseThrow(() -> missing(name, expected));
  }

  /**
   * The field's whole number; empty if the field is missing.
   *
   * @throws InvalidValue if the field is not a whole number
   */
  public Optional<Long> optionalWholeNumber(String name, String expected) {
    return value(name)
        .map(
            value ->
                checked(value.isIntegralNumber() && value.canConvertToLong(), name, value, expected)
                    .longValue());
  }

  /**
   * The field's boolean; empty if the field is missing.
   *
   * @throws InvalidValue if the field is not a boolean
   */
  public Optional<Boolean> optionalFlag(String name) {
    return value(name)
        .map(value -> checked(value.isBoolean(), name, value, "true or false").booleanValue());
  }

  /**
   * The field's number; empty if the field is missing.
   *
   * @throws InvalidValue if the field is not a number, or has more than 100 digits without exponent
   */
  public Optional<BigDecimal> optionalNumber(String name, String expected) {
    return value(name).map(value -> checked(isShort(value), name, value, expected).decimalValue());
  }

  private static boolean isShort(JsonNode value) {
    return value.isNumber()
        && value.decimalValue().precision() <= MAX_DIGITS
        && Math.abs((long) value.decimalValue().scale()) <= MAX_DIGITS;
  }

  /**
   * The fields of the object in this field.
   *
   * @throws InvalidValue if the field is missing or not an object
   */
  public JsonFields object(String name) {
    return optionalObject(name).orElseThrow(() -> missing(name, "an object"));
  }

  /**
   * The fields of the object in this field; empty if the field is missing.
   *
   * @throws InvalidValue if the field is not an object
   */
  public Optional<JsonFields> optionalObject(String name) {
    return value(name)
        .map(
            value ->
                new JsonFields(
                    path + name + ".", checked(value.isObject(), name, value, "an object")));
  }

  /**
   * The constant that the field names; empty if the field is missing.
   *
   * @param constants the allowed constants
   * @throws InvalidValue if the field names none of them
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

  /** The error for a missing field. */
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
