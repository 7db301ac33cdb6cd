package dev.tollgate.local.template;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * A resource of the template, with unresolved properties.
 *
 * @param dependencies the logical ids of the resources it refers to or names in {@code DependsOn}
 */
public record Resource(
    String logicalId, String type, ObjectNode properties, Set<String> dependencies) {
  /**
   * The logical id without the parts that the CDK adds to make it unique: the stack's name as
   * prefix, and the type and a hash of eight digits as suffix. {@code
   * AppSessionApiFunction85CFC096} becomes {@code SessionApi}.
   */
  public String shortName(String stackName) {
    String kind = type.substring(type.lastIndexOf(':') + 1);
    String name =
        logicalId
            .replaceFirst("[0-9A-F]{8}$", "")
            .replaceFirst("^" + Pattern.quote(stackName), "")
            .replaceFirst(kind + "$", "");
    return name.isEmpty() ? logicalId : name;
  }
}
