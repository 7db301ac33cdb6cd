package dev.tollgate.local.resources;

import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;

/** Creates the resources of one CloudFormation type. */
@FunctionalInterface
public interface ResourceType {
  /**
   * Creates a resource. Reading a property creates the resources that the property refers to.
   *
   * @param name the name of a resource whose properties contain none
   * @param properties the properties; each must be read or ignored by name
   * @param stack the services that the resource uses, and the other resources of the stack
   * @throws dev.tollgate.local.template.TemplateException if a property has a value that is not
   *     supported
   */
  CreatedResource create(String name, Properties properties, Stack stack);
}
