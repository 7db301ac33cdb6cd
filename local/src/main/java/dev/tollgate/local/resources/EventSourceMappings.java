package dev.tollgate.local.resources;

import dev.tollgate.local.events.EventSources;
import dev.tollgate.local.events.MappingSettings;
import dev.tollgate.local.rest.ApiException;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.TemplateException;
import java.util.Map;

/**
 * Event source mappings.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-lambda-eventsourcemapping.html">AWS::Lambda::EventSourceMapping</a>
 */
public final class EventSourceMappings implements ResourceFamily {
  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::Lambda::EventSourceMapping", EventSourceMappings::create);
  }

  private static CreatedResource create(String logicalName, Properties properties, Stack stack) {
    properties.ignore("Tags");
    try {
      return CreatedResource.of(
          stack
              .service(EventSources.class)
              .add(properties.place(), properties.copy(MappingSettings.MEMBERS)));
    } catch (ApiException e) {
      throw new TemplateException(properties.place(), String.valueOf(e.getMessage()));
    }
  }
}
