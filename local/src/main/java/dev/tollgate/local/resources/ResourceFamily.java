package dev.tollgate.local.resources;

import java.util.HashMap;
import java.util.Map;
import java.util.ServiceLoader;

/**
 * Resource types that belong together. {@link ServiceLoader} finds the families: a family is named
 * in {@code META-INF/services} and has a public constructor without parameters.
 */
public interface ResourceFamily {
  /** The types by name, such as {@code AWS::SQS::Queue}. */
  Map<String, ResourceType> types();

  /** The types of all families on the class path, by name. */
  static Map<String, ResourceType> allTypes() {
    Map<String, ResourceType> types = new HashMap<>();
    for (ResourceFamily family :
        ServiceLoader.load(ResourceFamily.class, ResourceFamily.class.getClassLoader())) {
      types.putAll(family.types());
    }
    return types;
  }
}
