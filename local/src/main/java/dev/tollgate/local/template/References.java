package dev.tollgate.local.template;

/**
 * What the resources brought up so far are called: the answers to {@code Ref} and {@code
 * Fn::GetAtt}.
 */
public interface References {
  /**
   * The physical id of a resource.
   *
   * @throws TemplateException if the resource is not up
   */
  String physicalId(String logicalId);

  /**
   * An attribute of a resource.
   *
   * @throws TemplateException if the resource is not up or has no such attribute
   */
  String attribute(String logicalId, String attribute);
}
