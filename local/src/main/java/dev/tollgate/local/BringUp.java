package dev.tollgate.local;

import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.References;
import dev.tollgate.local.template.Resolver;
import dev.tollgate.local.template.Resource;
import dev.tollgate.local.template.Template;
import dev.tollgate.local.template.TemplateException;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

/**
 * Brings a template's resources up, one after the other. A type, a property or an intrinsic that is
 * not known is an error: nothing of the template is passed over in silence.
 */
final class BringUp implements References {
  /** Types that say what is logged or what is watched: of no effect on one machine. */
  private static final Set<String> WITHOUT_EFFECT =
      Set.of(
          "AWS::ApiGateway::Account",
          "AWS::CDK::Metadata",
          "AWS::CloudWatch::Alarm",
          "AWS::CloudWatch::Dashboard");

  private final Template template;
  private final Resolver resolver;
  private final Map<String, Kind> kinds;
  private final Map<String, Brought> up = new HashMap<>();
  private final Set<String> names = new HashSet<>();

  BringUp(Template template, Environment environment, Map<String, Kind> kinds) {
    this.template = template;
    this.resolver = template.resolver(environment, this);
    this.kinds = kinds;
  }

  /** Brings all resources up and returns the stack's outputs. */
  Map<String, String> run() {
    for (Resource resource : template.resources(resolver)) {
      if (!WITHOUT_EFFECT.contains(resource.type())) {
        up.put(resource.logicalId(), bring(resource));
      }
    }
    return template.outputs(resolver);
  }

  @Override
  public String physicalId(String logicalId) {
    return find(logicalId).physicalId();
  }

  @Override
  public String attribute(String logicalId, String attribute) {
    String value = find(logicalId).attributes().get(attribute);
    if (value == null) {
      throw new TemplateException(logicalId, "has no attribute " + attribute + " here");
    }
    return value;
  }

  private Brought find(String logicalId) {
    Brought found = up.get(logicalId);
    if (found == null) {
      throw new TemplateException(logicalId, "is referred to, but is nothing here");
    }
    return found;
  }

  private Brought bring(Resource resource) {
    Kind kind = kinds.get(resource.type());
    if (kind == null) {
      throw new TemplateException(resource.logicalId(), "unknown type " + resource.type());
    }
    Properties properties = Template.properties(resource, resolver);
    Brought brought = kind.bring(name(resource), properties);
    properties.refuseUnread();
    return brought;
  }

  /** A short name, of which there is only one in the stack. */
  private String name(Resource resource) {
    String name = resource.shortName(template.stackName());
    String type = resource.type();
    return names.add(type + " " + name) ? name : resource.logicalId();
  }
}
