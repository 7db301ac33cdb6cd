package dev.tollgate.local.rest;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.tollgate.local.endpoint.ApiException;
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

  private final JsonNode json;
  private final String prefix;
  private final List<String> violations;

  /**
   * The members of a request.
   *
   * @throws ApiException if it is not an object
   */
  public Members(JsonNode json) {
    this(json, "", new ArrayList<>());
    if (!json.isObject()) {
      throw ApiException.serialization("expected an object");
    }
  }

  private Members(JsonNode json, String prefix, List<String> violations) {
    this.json = json;
    this.prefix = prefix;
    this.violations = violations;
  }

  /**
   * Ends the reading of a request and its structures.
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

  /** The name of a schedule or of a group, which is in the path or the query. */
  public String name(String value, String at) {
    return constrained(value, at, 64, Optional.of(NAME));
  }

  /** A client token that is in the query. */
  public Optional<String> clientToken(Optional<String> value) {
    return value.map(token -> constrained(token, "clientToken", 64, Optional.of(CLIENT_TOKEN)));
  }

  /** The client token. */
  public Optional<String> clientToken() {
    return clientToken(text("ClientToken", 1, Integer.MAX_VALUE));
  }

  /** The members of a structure. All members of an absent structure are absent. */
  public Members structure(String member) {
    JsonNode value = value(member).orElse(MissingNode.getInstance());
    if (!value.isMissingNode() && !value.isObject()) {
      throw ApiException.serialization(at(member) + ": expected an object");
    }
    return new Members(value, at(member) + ".", violations);
  }

  /** The members of a structure that must be present. */
  public Members requiredStructure(String member) {
    require(member);
    return structure(member);
  }

  /** The members of each structure in a list. */
  public List<Members> structures(String member) {
    List<Members> structures = new ArrayList<>();
    for (JsonNode element : json.path(member)) {
      String at = at(member) + "." + (structures.size() + 1) + ".member.";
      structures.add(new Members(element, at, violations));
    }
    return structures;
  }

  /** Whether a member is present. */
  public boolean has(String member) {
    return json.hasNonNull(member);
  }

  /** A string of {@code min} to {@code max} characters. */
  public Optional<String> text(String member, int min, int max) {
    return text(member, min, max, Optional.empty());
  }

  /** A string of {@code min} to {@code max} characters that matches a pattern. */
  public Optional<String> text(String member, int min, int max, Optional<Pattern> pattern) {
    Optional<JsonNode> value = value(member);
    if (value.isPresent() && !value.get().isTextual()) {
      throw ApiException.serialization(at(member) + ": expected a string");
    }
    Optional<String> text = value.map(JsonNode::textValue);
    if (text.isPresent() && text.get().length() < min) {
      violated(text.get(), at(member), "Member must have length greater than or equal to " + min);
    }
    return text.map(present -> constrained(present, at(member), max, pattern));
  }

  /** A string that must be present. */
  public String requiredText(String member, int min, int max, Optional<Pattern> pattern) {
    require(member);
    return text(member, min, max, pattern).orElse("");
  }

  /** A whole number. */
  public OptionalInt integer(String member, int min, int max) {
    Optional<JsonNode> value = value(member);
    if (value.isEmpty()) {
      return OptionalInt.empty();
    }
    if (!INTEGER.matcher(value.get().asText()).matches()) {
      throw ApiException.serialization(at(member) + ": expected an integer");
    }
    int number = Integer.parseInt(value.get().asText());
    if (number < min) {
      violated(number, at(member), "Member must have value greater than or equal to " + min);
    }
    if (number > max) {
      violated(number, at(member), "Member must have value less than or equal to " + max);
    }
    return OptionalInt.of(number);
  }

  /** One of the names, or the first of them when absent. */
  public String choice(String member, String... names) {
    String name = text(member, 0, Integer.MAX_VALUE).orElse(names[0]);
    if (!List.of(names).contains(name)) {
      violated(name, at(member), "Member must satisfy enum value set: " + List.of(names));
    }
    return name;
  }

  /** One of the names, which must be present. */
  public String requiredChoice(String member, String... names) {
    require(member);
    return choice(member, names);
  }

  /** A time. */
  public Optional<Instant> time(String member) {
    try {
      return value(member)
          .map(
              value ->
                  value.isNumber()
                      ? Instant.ofEpochMilli(value.decimalValue().movePointRight(3).longValue())
                      : Instant.parse(value.asText()));
    } catch (DateTimeException e) {
      throw ApiException.serialization(at(member) + ": expected a time");
    }
  }

  /** A member must be present, unless the structure that it is in is absent. */
  private void require(String member) {
    if (!json.isMissingNode() && !has(member)) {
      violations.add(
          "Value null at '"
              + at(member)
              + "' failed to satisfy constraint: Member must not be null");
    }
  }

  private Optional<JsonNode> value(String member) {
    return Optional.ofNullable(json.get(member)).filter(value -> !value.isNull());
  }

  /** The path of a member as errors have it, such as {@code target.roleArn}. */
  private String at(String member) {
    return prefix + Character.toLowerCase(member.charAt(0)) + member.substring(1);
  }

  private String constrained(String value, String at, int max, Optional<Pattern> pattern) {
    if (value.length() > max) {
      violated(value, at, "Member must have length less than or equal to " + max);
    }
    if (pattern.isPresent() && !pattern.get().matcher(value).matches()) {
      violated(
          value, at, "Member must satisfy regular expression pattern: ^" + pattern.get() + "$");
    }
    return value;
  }

  private void violated(Object value, String at, String constraint) {
    violations.add(
        "Value '" + value + "' at '" + at + "' failed to satisfy constraint: " + constraint);
  }
}
