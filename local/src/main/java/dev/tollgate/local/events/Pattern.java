package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import software.amazon.event.ruler.Machine;

/**
 * A filter of records.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-eventfiltering.html">Control
 *     which events Lambda sends to your function</a>
 */
final class Pattern {
  private static final String BODY = "body";

  private final Machine machine = new Machine();
  private final boolean hasRulesForBody;

  private Pattern(JsonNode rules) throws IOException {
    machine.addRule("", rules.toString());
    hasRulesForBody = rules.path(BODY).isObject();
  }

  /**
   * Reads a pattern.
   *
   * @throws IllegalArgumentException if the text is not a pattern
   */
  static Pattern parse(String text) {
    try {
      JsonNode rules = Json.read(text);
      if (rules.isObject() && !rules.isEmpty()) {
        return new Pattern(rules);
      }
    } catch (IOException e) {
      throw new IllegalArgumentException("Invalid filter pattern definition.", e);
    }
    throw new IllegalArgumentException("Invalid filter pattern definition.");
  }

  /** Whether a record passes the filter. If the filter has rules for the body, that is JSON. */
  boolean matches(ObjectNode record) {
    return !machine.rulesForJSONEvent(hasRulesForBody ? withParsedBody(record) : record).isEmpty();
  }

  /** The record with its body as a tree. A body that is not JSON is removed. */
  private static ObjectNode withParsedBody(ObjectNode record) {
    ObjectNode parsed = record.deepCopy();
    JsonNode body = Json.readOrMissing(record.path(BODY).asText());
    if (body.isMissingNode()) {
      parsed.remove(BODY);
    } else {
      parsed.set(BODY, body);
    }
    return parsed;
  }
}
