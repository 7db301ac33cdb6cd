package dev.tollgate.local.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;

/**
 * The properties of a resource, or of an object in a resource. Each property is resolved when it is
 * read. {@link #refuseUnread()} finds the properties that were neither read nor ignored.
 */
public final class Properties {
  private final ObjectNode node;
  private final String place;
  private final Resolver resolver;
  private final Set<String> read = new HashSet<>();
  private final List<Properties> children = new ArrayList<>();

  Properties(ObjectNode node, String place, Resolver resolver) {
    this.node = node;
    this.place = place;
    this.resolver = resolver;
  }

  /** The path of these properties in the template. */
  public String place() {
    return place;
  }

  /** The names of all properties. */
  public List<String> names() {
    List<String> names = new ArrayList<>();
    node.fieldNames().forEachRemaining(names::add);
    return names;
  }

  /** The resolved value of a property, of any shape. */
  public Optional<JsonNode> json(String name) {
    read.add(name);
    return Optional.ofNullable(node.get(name))
        .map(value -> resolver.resolve(value, place + "." + name))
        .filter(value -> !value.isMissingNode());
  }

  /** The resolved value of a scalar property. */
  public Optional<String> optionalText(String name) {
    return json(name)
        .map(
            value -> {
              if (!value.isValueNode()) {
                throw error(name, value + " (expected: a scalar)");
              }
              return value.asText();
            });
  }

  /**
   * The resolved value of a scalar property.
   *
   * @throws TemplateException if it is absent
   */
  public String text(String name) {
    return optionalText(name).orElseThrow(() -> error(name, "absent (expected: a value)"));
  }

  /**
   * The resolved value of a scalar property that has few values.
   *
   * @throws TemplateException if it is absent or not one of these values
   */
  public String oneOf(String name, String... values) {
    String value = text(name);
    if (!List.of(values).contains(value)) {
      String expected = String.join(", ", values).replaceFirst(", (\\S+)$", " or $1");
      throw error(name, value + " (expected: " + expected + ")");
    }
    return value;
  }

  /** Copies the resolved values of the named properties that are present. */
  public ObjectNode copy(Collection<String> names) {
    ObjectNode copy = Json.object();
    names.forEach(name -> json(name).ifPresent(value -> copy.set(name, value)));
    return copy;
  }

  /** The resolved value of a whole-number property. */
  public OptionalInt integer(String name) {
    Optional<String> text = optionalText(name);
    try {
      return text.map(Integer::valueOf).map(OptionalInt::of).orElse(OptionalInt.empty());
    } catch (NumberFormatException e) {
      throw error(name, text.orElse("") + " (expected: a whole number)");
    }
  }

  /** The resolved elements of a list of scalars; empty if it is absent. */
  public List<String> texts(String name) {
    List<String> texts = new ArrayList<>();
    json(name).ifPresent(values -> values.forEach(value -> texts.add(value.asText())));
    return List.copyOf(texts);
  }

  /** The resolved members of an object of scalars, in order; empty if it is absent. */
  public Map<String, String> textMap(String name) {
    Map<String, String> texts = new LinkedHashMap<>();
    json(name)
        .ifPresent(
            values ->
                values.properties().forEach(e -> texts.put(e.getKey(), e.getValue().asText())));
    return texts;
  }

  /** An object in these properties, whose members are read one by one. */
  public Optional<Properties> object(String name) {
    return json(name).map(value -> child(value, name));
  }

  /**
   * An object in these properties.
   *
   * @throws TemplateException if it is absent
   */
  public Properties requiredObject(String name) {
    return object(name).orElseThrow(() -> error(name, "absent (expected: an object)"));
  }

  /**
   * Accepts properties that have no effect locally. They are not resolved, but the resources that
   * they refer to are created.
   */
  public void ignore(String... names) {
    for (String name : names) {
      read.add(name);
      resolver.createReferenced(node.path(name), place + "." + name);
    }
  }

  /** Accepts all properties, as {@link #ignore} does. */
  public void ignoreAll() {
    node.fieldNames().forEachRemaining(this::ignore);
  }

  /**
   * Refuses properties that were neither read nor ignored. Call this last.
   *
   * @throws TemplateException if there is such a property
   */
  public void refuseUnread() {
    for (var property : node.properties()) {
      if (!read.contains(property.getKey())) {
        throw error(property.getKey(), "unknown property");
      }
    }
    children.forEach(Properties::refuseUnread);
  }

  /** An error at a property. */
  public TemplateException error(String name, String what) {
    return new TemplateException(place + "." + name, what);
  }

  private Properties child(JsonNode value, String name) {
    if (!(value instanceof ObjectNode object)) {
      throw error(name, value + " (expected: an object)");
    }
    Properties child = new Properties(object, place + "." + name, resolver);
    children.add(child);
    return child;
  }
}
