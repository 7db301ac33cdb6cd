package dev.tollgate.local.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/**
 * Reads the members of one request. It collects the violations of the service model's constraints,
 * so that one error names all of them, in the words of the service.
 *
 * <p>Numbers and times may have the form of the API (integers, epoch seconds) or that of a
 * CloudFormation template (strings, ISO-8601).
 */
public final class Members {
  private static final Pattern NAME = Pattern.compile("[0-9a-zA-Z-_.]+");
  private static final Pattern CLIENT_TOKEN = Pattern.compile("[a-zA-Z0-9-_]+");
  private static final Pattern INTEGER = Pattern.compile("-?\\d{1,9}");

  private final List<String> violations = new ArrayList<>();

  /**
   * Ends the reading.
   *
   * @throws ApiException if a constraint was violated
   */
  public void check() {
    if (!violations.isEmpty()) {
      throw ApiException.validation(
          violations.size()
              + (violations.size() == 1 ? " validation error" : " validation errors")
              + " detected: "
              + String.join("; ", violations));
    }
  }

  /** The name of a schedule or of a group. */
  public String name(String value, String at) {
    return constrained(value, at, 64, Optional.of(NAME));
  }

  /** A client token. */
  public Optional<String> clientToken(Optional<String> value) {
    return value.map(token -> constrained(token, "clientToken", 64, Optional.of(CLIENT_TOKEN)));
  }

  /** A structure; all members of an absent one are absent. */
  public JsonNode structure(JsonNode parent, String member, String at) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return MissingNode.getInstance();
    }
    if (!value.isObject()) {
      throw ApiException.serialization(at + ": expected an object");
    }
    return value;
  }

  /** A string of {@code min} to {@code max} characters. */
  public Optional<String> text(JsonNode parent, String member, String at, int min, int max) {
    return text(parent, member, at, min, max, Optional.empty());
  }

  /** A string of {@code min} to {@code max} characters that matches a pattern. */
  public Optional<String> text(
      JsonNode parent, String member, String at, int min, int max, Optional<Pattern> pattern) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    if (!value.isTextual()) {
      throw ApiException.serialization(at + ": expected a string");
    }
    if (value.textValue().length() < min) {
      violated(
          "'" + value.textValue() + "'",
          at,
          "Member must have length greater than or equal to " + min);
    }
    return Optional.of(constrained(value.textValue(), at, max, pattern));
  }

  /** A value that must be present. */
  public String required(Optional<String> value, String at) {
    if (value.isEmpty()) {
      missing(at);
    }
    return value.orElse("");
  }

  /** Adds the violation that a member is absent. */
  public void missing(String at) {
    violated("null", at, "Member must not be null");
  }

  /** A whole number; without the member, nothing is violated. */
  public OptionalInt integer(JsonNode parent, String member, int min, int max) {
    return integer(parent, member, nameOf(member), min, max);
  }

  /** A whole number. */
  public OptionalInt integer(JsonNode parent, String member, String at, int min, int max) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return OptionalInt.empty();
    }
    if (!INTEGER.matcher(value.asText()).matches()) {
      throw ApiException.serialization(at + ": expected an integer");
    }
    int number = Integer.parseInt(value.asText());
    if (number < min) {
      violated("'" + number + "'", at, "Member must have value greater than or equal to " + min);
    }
    if (number > max) {
      violated("'" + number + "'", at, "Member must have value less than or equal to " + max);
    }
    return OptionalInt.of(number);
  }

  /** One of the names, or the first of them when absent. */
  public String choice(JsonNode parent, String member, String at, List<String> names) {
    Optional<String> value = text(parent, member, at, 0, Integer.MAX_VALUE);
    value
        .filter(name -> !names.contains(name))
        .ifPresent(
            name -> violated("'" + name + "'", at, "Member must satisfy enum value set: " + names));
    return value.orElse(names.get(0));
  }

  /** A time. */
  public Optional<Instant> time(JsonNode parent, String member, String at) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    try {
      return Optional.of(
          value.isNumber()
              ? Instant.ofEpochMilli(value.decimalValue().movePointRight(3).longValue())
              : Instant.parse(value.asText()));
    } catch (DateTimeException e) {
      throw ApiException.serialization(at + ": expected a time");
    }
  }

  private String constrained(String value, String at, int max, Optional<Pattern> pattern) {
    if (value.length() > max) {
      violated("'" + value + "'", at, "Member must have length less than or equal to " + max);
    }
    pattern
        .filter(p -> !p.matcher(value).matches())
        .ifPresent(
            p ->
                violated(
                    "'" + value + "'",
                    at,
                    "Member must satisfy regular expression pattern: ^" + p + "$"));
    return value;
  }

  private void violated(String value, String at, String constraint) {
    violations.add(
        "Value " + value + " at '" + at + "' failed to satisfy constraint: " + constraint);
  }

  /** The name of a member as errors have it: {@code functionName} for {@code FunctionName}. */
  public static String nameOf(String member) {
    return Character.toLowerCase(member.charAt(0)) + member.substring(1);
  }
}
