package dev.tollgate.local.scheduler;

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
 * Reads the members of one request and gathers what breaks the constraints of the service model, so
 * that one answer names them all, in the words of the service.
 *
 * <p>Numbers and times are taken as the API has them (integers, epoch seconds) and as a
 * CloudFormation template has them (strings, ISO-8601).
 */
final class Members {
  private static final Pattern NAME = Pattern.compile("[0-9a-zA-Z-_.]+");
  private static final Pattern CLIENT_TOKEN = Pattern.compile("[a-zA-Z0-9-_]+");
  private static final Pattern INTEGER = Pattern.compile("-?\\d{1,9}");

  private final List<String> violations = new ArrayList<>();

  /** Throws what has been gathered. */
  void check() {
    if (!violations.isEmpty()) {
      throw SchedulerException.validation(
          violations.size()
              + (violations.size() == 1 ? " validation error" : " validation errors")
              + " detected: "
              + String.join("; ", violations));
    }
  }

  /** The name of a schedule or of a group. */
  String name(String value, String at) {
    return constrained(value, at, 64, Optional.of(NAME));
  }

  Optional<String> clientToken(Optional<String> value) {
    return value.map(token -> constrained(token, "clientToken", 64, Optional.of(CLIENT_TOKEN)));
  }

  /** A structure; what is read from an absent one is absent. */
  JsonNode structure(JsonNode parent, String member, String at) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return MissingNode.getInstance();
    }
    if (!value.isObject()) {
      throw SchedulerException.serialization(at + ": expected an object");
    }
    return value;
  }

  Optional<String> text(JsonNode parent, String member, String at, int min, int max) {
    return text(parent, member, at, min, max, Optional.empty());
  }

  Optional<String> text(
      JsonNode parent, String member, String at, int min, int max, Optional<Pattern> pattern) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return Optional.empty();
    }
    if (!value.isTextual()) {
      throw SchedulerException.serialization(at + ": expected a string");
    }
    if (value.textValue().length() < min) {
      violated(
          "'" + value.textValue() + "'",
          at,
          "Member must have length greater than or equal to " + min);
    }
    return Optional.of(constrained(value.textValue(), at, max, pattern));
  }

  String required(Optional<String> value, String at) {
    if (value.isEmpty()) {
      missing(at);
    }
    return value.orElse("");
  }

  void missing(String at) {
    violated("null", at, "Member must not be null");
  }

  OptionalInt integer(JsonNode parent, String member, String at, int min, int max) {
    JsonNode value = parent.path(member);
    if (value.isMissingNode() || value.isNull()) {
      return OptionalInt.empty();
    }
    if (!INTEGER.matcher(value.asText()).matches()) {
      throw SchedulerException.serialization(at + ": expected an integer");
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
  String choice(JsonNode parent, String member, String at, List<String> names) {
    Optional<String> value = text(parent, member, at, 0, Integer.MAX_VALUE);
    value
        .filter(name -> !names.contains(name))
        .ifPresent(
            name -> violated("'" + name + "'", at, "Member must satisfy enum value set: " + names));
    return value.orElse(names.get(0));
  }

  Optional<Instant> time(JsonNode parent, String member, String at) {
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
      throw SchedulerException.serialization(at + ": expected a time");
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
}
