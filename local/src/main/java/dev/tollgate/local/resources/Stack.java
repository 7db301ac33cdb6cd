package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The stack that is being created: the services that its resources use, and objects through which
 * its resources find each other.
 */
public final class Stack {
  private record Key(Class<?> type, String id) {}

  private final Environment environment;
  private final ServiceClient client;
  private final Map<Key, Object> objects = new HashMap<>();
  private final List<Runnable> finalSteps = new ArrayList<>();

  /**
   * A stack without resources.
   *
   * @param client calls the AWS APIs as CloudFormation does
   */
  public Stack(Environment environment, ServiceClient client) {
    this.environment = environment;
    this.client = client;
  }

  /** The stack's account, region and clock. */
  public Environment environment() {
    return environment;
  }

  /** Adds a service. */
  public <T> Stack withService(Class<T> type, T service) {
    objects.put(new Key(type, ""), service);
    return this;
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
   * @param property the property that holds the object's id
   * @param expected what the property should refer to, for the error
   * @throws dev.tollgate.local.template.TemplateException if there is no such object
   */
  public <T> T required(Class<T> type, Properties properties, String property, String expected) {
    String id = properties.text(property);
    return find(type, id)
        .orElseThrow(() -> properties.error(property, id + " (expected: " + expected + ")"));
  }

  /**
   * Calls an AWS API for a resource.
   *
   * @param target name space and operation, such as {@code AmazonSQS.CreateQueue}
   * @throws dev.tollgate.local.template.TemplateException if the API refuses
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

  /** Adds a step that needs all resources of the stack. */
  public void addFinalStep(Runnable step) {
    finalSteps.add(step);
  }

  /** Takes the final steps of all resources, in order of their creation. */
  public void complete() {
    finalSteps.forEach(Runnable::run);
  }
}
