package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import dev.tollgate.local.template.Resolver;
import dev.tollgate.local.template.Resource;
import dev.tollgate.local.template.Template;
import dev.tollgate.local.template.TemplateException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.Predicate;

/**
 * The stack that is being created: the services that its resources use, and objects through which
 * its resources find each other. An unknown type, property or intrinsic is an error: nothing in a
 * template is skipped silently.
 *
 * <p>CloudFormation creates a resource after those that it refers to or names in {@code DependsOn},
 * and all others in parallel. Here the order of the others is random. So a resource that relies on
 * another one without saying so fails in some orders, as on AWS it fails now and then.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-attribute-dependson.html">DependsOn
 *     attribute</a>
 */
public final class Stack {
  private record Key(Class<?> type, String id) {}

  private final Template template;
  private final Environment environment;
  private final ServiceClient client;
  private final Resolver resolver;
  private final Map<String, Resource> resources;
  private final Map<Key, Object> objects = new HashMap<>();
  private final List<Runnable> finalSteps = new ArrayList<>();
  private final Map<String, ResourceType> types = ResourceFamily.allTypes();
  private final Map<String, CreatedResource> created = new HashMap<>();
  private final Set<String> inProgress = new LinkedHashSet<>();

  /** The names of resources whose properties contain none, by logical id. */
  private final Map<String, String> names = new HashMap<>();

  /**
   * A stack without resources.
   *
   * @param client calls the AWS APIs as CloudFormation does
   * @param services the services that the resources use, each of another class
   */
  public Stack(
      Template template, Environment environment, ServiceClient client, Object... services) {
    this.template = template;
    this.environment = environment;
    this.client = client;
    this.resolver = template.resolver(environment, this::created);
    this.resources = template.resources(resolver);
    Set<String> taken = new HashSet<>();
    for (Resource resource : resources.values()) {
      String name = resource.shortName(environment.stackName());
      boolean unique = taken.add(resource.type() + " " + name);
      names.put(resource.logicalId(), unique ? name : resource.logicalId());
    }
    for (Object service : services) {
      objects.put(new Key(service.getClass(), ""), service);
    }
  }

  /**
   * Creates all resources of the template.
   *
   * @param seed determines the order of resources that do not depend on each other
   * @return the stack's outputs, by name
   */
  public Map<String, String> create(long seed) {
    List<String> order = new ArrayList<>(resources.keySet());
    // The first numbers of a Random hardly differ for small seeds.
    Collections.shuffle(order, new Random(new SplittableRandom(seed).nextLong()));
    order.forEach(this::created);
    finalSteps.forEach(Runnable::run);
    return template.outputs(resolver);
  }

  /** The template. */
  public Template template() {
    return template;
  }

  /** Whether the template has a resource of a type. */
  public boolean declares(String type) {
    return resources.values().stream().anyMatch(resource -> resource.type().equals(type));
  }

  /** The stack's account, region and clock. */
  public Environment environment() {
    return environment;
  }

  /**
   * A service.
   *
   * @throws IllegalStateException if the stack has no such service
   */
  public <T> T service(Class<T> type) {
    return find(type, "")
        .orElseThrow(() -> new IllegalStateException("no service " + type.getSimpleName()));
  }

  /**
   * Adds an object that other resources need.
   *
   * @param id the physical id of its resource
   * @return false if there is an object of the type with the id
   */
  public <T> boolean add(Class<T> type, String id, T object) {
    return objects.putIfAbsent(new Key(type, id), object) == null;
  }

  /** An object that another resource added. */
  public <T> Optional<T> find(Class<T> type, String id) {
    return Optional.ofNullable(objects.get(new Key(type, id))).map(type::cast);
  }

  /**
   * An object that another resource added.
   *
   * @param fits whether the property may refer to an object
   * @param property the property that holds the object's id
   * @param expected what the property should refer to, for the error
   * @throws TemplateException if there is no such object
   */
  public <T> T required(
      Class<T> type, Predicate<T> fits, Properties properties, String property, String expected) {
    String id = properties.text(property);
    return find(type, id)
        .filter(fits)
        .orElseThrow(() -> properties.error(property, id + " (expected: " + expected + ")"));
  }

  /**
   * Calls an AWS API for a resource.
   *
   * @param target name space and operation, such as {@code AmazonSQS.CreateQueue}
   * @throws TemplateException if the API refuses
   */
  public JsonNode call(Properties properties, String service, String target, JsonNode request) {
    Answer answer = tryCall(service, target, request);
    if (!answer.succeeded()) {
      throw properties.error(target.substring(target.indexOf('.') + 1), answer.body().toString());
    }
    return answer.body();
  }

  /** Calls an AWS API for a resource. */
  public Answer tryCall(String service, String target, JsonNode request) {
    return client.call(service, target, request);
  }

  /**
   * Adds a step that needs all resources of the stack.
   *
   * @param properties the properties of the resource that the step completes
   */
  public void addFinalStep(Properties properties, Runnable step) {
    finalSteps.add(
        () -> {
          try {
            step.run();
          } catch (ApiException e) {
            throw refused(properties, e);
          }
        });
  }

  /** The resource with a logical id, which is created unless it exists. */
  private CreatedResource created(String logicalId) {
    CreatedResource existing = created.get(logicalId);
    if (existing != null) {
      return existing;
    }
    Resource resource = resources.get(logicalId);
    if (resource == null) {
      throw new TemplateException(logicalId, "no resource has this logical id");
    }
    if (!inProgress.add(logicalId)) {
      List<String> path = List.copyOf(inProgress);
      throw new TemplateException(
          environment.stackName(),
          "Circular dependency between resources: "
              + path.stream().skip(path.indexOf(logicalId)).sorted().toList());
    }
    resource.dependsOn().forEach(this::created);
    CreatedResource result = create(resource);
    inProgress.remove(logicalId);
    created.put(logicalId, result);
    return result;
  }

  private CreatedResource create(Resource resource) {
    ResourceType type = types.get(resource.type());
    if (type == null) {
      throw new TemplateException(resource.logicalId(), "unknown type " + resource.type());
    }
    Properties properties = resource.properties();
    try {
      CreatedResource result =
          type.create(
              names.getOrDefault(resource.logicalId(), resource.logicalId()), properties, this);
      properties.refuseUnread();
      return result;
    } catch (ApiException e) {
      throw refused(properties, e);
    }
  }

  private static TemplateException refused(Properties properties, ApiException e) {
    return new TemplateException(properties.place(), e.text());
  }
}
