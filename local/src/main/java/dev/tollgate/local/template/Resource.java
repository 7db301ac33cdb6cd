package dev.tollgate.local.template;

import java.util.List;
import java.util.regex.Pattern;

/**
 * A resource of the template.
 *
 * @param dependsOn the logical ids of the resources that must be created first
 */
public record Resource(
    String logicalId, String type, Properties properties, List<String> dependsOn) {
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
