package dev.tollgate.local.testing;

import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.faults.Faults;
import java.net.URI;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/**
 * Starts the cloud of a class with {@link WithLocalCloud}, and passes it to the tests as
 * parameters.
 */
final class LocalCloudExtension implements BeforeAllCallback, ParameterResolver {
  private static final Namespace CLOUDS = Namespace.create(LocalCloudExtension.class);

  /** The parameters that have no annotation, by type. */
  private static final Map<Class<?>, Function<TestCloud, Object>> PARTS =
      Map.of(
          TestCloud.class, cloud -> cloud,
          ManualClock.class, TestCloud::clock,
          URI.class, cloud -> cloud.cloud().endpoint(),
          RecordedRequests.class, cloud -> cloud.cloud().requests(),
          Faults.class, cloud -> cloud.cloud().faults());

  @Override
  public void beforeAll(ExtensionContext context) {
    var unused = cloud(context);
  }

  /** The cloud of a test class, or of the class that it is nested in. JUnit closes it. */
  private static TestCloud cloud(ExtensionContext context) {
    Optional<WithLocalCloud> annotation =
        AnnotationSupport.findAnnotation(context.getTestClass(), WithLocalCloud.class);
    ExtensionContext parent = context.getParent().orElseThrow();
    if (annotation.isEmpty() || parent.getTestClass().equals(context.getTestClass())) {
      return cloud(parent);
    }
    ExtensionContext owner = annotation.get().shared() ? context.getRoot() : context;
    Path assembly = Path.of(annotation.get().value());
    return owner
        .getStore(CLOUDS)
        .computeIfAbsent(
            assembly.toAbsolutePath(), path -> TestCloud.start(assembly), TestCloud.class);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return PARTS.containsKey(type)
        || (type == String.class && parameter.isAnnotated(StackOutput.class))
        || (type == AccessKey.class && parameter.isAnnotated(RoleCredentials.class));
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    TestCloud cloud = cloud(context);
    Class<?> type = parameter.getParameter().getType();
    if (type == String.class) {
      return output(cloud, parameter.findAnnotation(StackOutput.class).orElseThrow().value());
    } else if (type == AccessKey.class) {
      String role = parameter.findAnnotation(RoleCredentials.class).orElseThrow().value();
      return cloud.cloud().accessKeyOf(role);
    }
    return Objects.requireNonNull(PARTS.get(type)).apply(cloud);
  }

  private static String output(TestCloud cloud, String name) {
    Map<String, String> outputs = cloud.cloud().outputs();
    return Optional.ofNullable(outputs.get(name))
        .orElseThrow(
            () ->
                new ParameterResolutionException(
                    "No output named " + name + ". The stack has: " + outputs.keySet()));
  }
}
