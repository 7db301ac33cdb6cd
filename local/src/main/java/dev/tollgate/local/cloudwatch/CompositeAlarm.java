package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * An alarm over other alarms, which is raised while any of them is. Its rule is {@code
 * ALARM("name") OR ALARM("name")}, with any number of names.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AmazonCloudWatch/latest/APIReference/API_PutCompositeAlarm.html">PutCompositeAlarm</a>
 */
public final class CompositeAlarm {
  private static final Pattern TERM = Pattern.compile("ALARM\\(\"?([^\"()]+)\"?\\)");

  private final ObjectNode definition;
  private final List<String> alarms;

  /**
   * Reads the properties of an {@code AWS::CloudWatch::CompositeAlarm}.
   *
   * @throws IllegalArgumentException if the rule is not supported here
   */
  public CompositeAlarm(ObjectNode definition) {
    this.definition = definition;
    alarms =
        Stream.of(definition.path("AlarmRule").asText().strip().split("\\s+OR\\s+"))
            .map(CompositeAlarm::name)
            .toList();
  }

  private static String name(String term) {
    var found = TERM.matcher(term);
    if (!found.matches()) {
      throw new IllegalArgumentException("AlarmRule: " + term + " (expected: ALARM(\"name\"))");
    }
    return found.group(1);
  }

  /** The definition, with the members of the API. */
  ObjectNode definition() {
    return definition.deepCopy();
  }

  /** The names of the alarms in the rule. */
  List<String> alarms() {
    return alarms;
  }
}
