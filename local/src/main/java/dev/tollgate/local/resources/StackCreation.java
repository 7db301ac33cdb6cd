package dev.tollgate.local.resources;

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
 * Creates the resources of a template, each after those that it refers to. An unknown type,
 * property or intrinsic is an error: nothing in a template is skipped silently.
 */
public final class StackCreation implements References {
  private final Template template;
  private final Stack stack;
  private final Resolver resolver;
  private final Map<String, ResourceType> types = ResourceFamily.allTypes();
  private final Map<String, CreatedResource> created = new HashMap<>();
  private final Set<String> names = new HashSet<>();

  private StackCreation(Template template, Stack stack) {
    this.template = template;
    this.stack = stack;
    this.resolver = template.resolver(stack.environment(), this);
  }

  /**
   * Creates all resources.
   *
   * @return the stack's outputs, by name
   */
  public static Map<String, String> run(Template template, Stack stack) {
    StackCreation creation = new StackCreation(template, stack);
    template
        .resources(creation.resolver)
        .forEach(resource -> creation.created.put(resource.logicalId(), creation.create(resource)));
    stack.complete();
    return template.outputs(creation.resolver);
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

  private CreatedResource find(String logicalId) {
    CreatedResource found = created.get(logicalId);
    if (found == null) {
      throw new TemplateException(logicalId, "there is no such resource");
    }
    return found;
  }

  private CreatedResource create(Resource resource) {
    ResourceType type = types.get(resource.type());
    if (type == null) {
      throw new TemplateException(resource.logicalId(), "unknown type " + resource.type());
    }
    Properties properties = Template.properties(resource, resolver);
    CreatedResource result = type.create(name(resource), properties, stack);
    properties.refuseUnread();
    return result;
  }

  /** A short name, unique among the resources of the type. */
  private String name(Resource resource) {
    String name = resource.shortName(template.stackName());
    return names.add(resource.type() + " " + name) ? name : resource.logicalId();
  }
}
