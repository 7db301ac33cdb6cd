package dev.tollgate.local.template;

/** The resources that exist so far: the values of {@code Ref} and {@code Fn::GetAtt}. */
public interface References {
  /**
   * The physical id of a resource.
   *
   * @throws TemplateException if the resource does not exist yet
   */
  String physicalId(String logicalId);

  /**
   * An attribute of a resource.
   *
   * @throws TemplateException if the resource does not exist yet or has no such attribute
   */
  String attribute(String logicalId, String attribute);
}
