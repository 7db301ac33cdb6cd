package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.events.MappingSettings;
import dev.tollgate.local.lambda.LambdaException;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.TemplateException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;

/**
 * Gathers event source mappings until their functions are defined.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html">AWS::Lambda::EventSourceMapping</a>
 */
final class EventParts {
  private final Map<String, ObjectNode> mappings = new LinkedHashMap<>();

  Brought mapping(String logicalName, Properties properties) {
    ObjectNode members = JsonNodeFactory.instance.objectNode();
    for (String member : MappingSettings.MEMBERS) {
      properties.json(member).ifPresent(value -> members.set(member, value));
    }
    properties.ignore("Tags");
    mappings.put(properties.place(), members);
    return Brought.of(
        UUID.nameUUIDFromBytes(properties.place().getBytes(StandardCharsets.UTF_8)).toString());
  }

  /** Hands all that was gathered to those who read the sources. */
  void add(EventSources sources) {
    mappings.forEach(
        (place, members) -> {
          try {
            sources.add(place, members);
          } catch (LambdaException e) {
            throw new TemplateException(place, String.valueOf(e.getMessage()));
          }
        });
  }
}
