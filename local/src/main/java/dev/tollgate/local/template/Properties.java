package dev.tollgate.local.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The properties of a resource, or of an object in one, resolved as they are read. It keeps account
 * of what was read, so that {@link #refuseUnread()} finds a property that nobody here knows.
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

  /** Where these properties stand in the template. */
  public String place() {
    return place;
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

  /** The resolved value of a whole-number property. */
  public Optional<Integer> integer(String name) {
    return optionalText(name)
        .map(
            text -> {
              try {
                return Integer.valueOf(text);
              } catch (NumberFormatException e) {
                throw error(name, text + " (expected: a whole number)");
              }
            });
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

  /** An object in these properties, whose members are read in their turn. */
  public Optional<Properties> object(String name) {
    read.add(name);
    JsonNode value = node.get(name);
    if (value == null) {
      return Optional.empty();
    }
    if (!(value instanceof ObjectNode object) || Resolver.intrinsic(object).isPresent()) {
      return json(name).map(resolved -> child(resolved, name));
    }
    return Optional.of(child(object, name));
  }

  /** Properties that are known and mean nothing here; they are not even resolved. */
  public void ignore(String... names) {
    read.addAll(List.of(names));
  }

  /**
   * To be called when everything that is known was read.
   *
   * @throws TemplateException if a property was not
   */
  public void refuseUnread() {
    node.fieldNames()
        .forEachRemaining(
            name -> {
              if (!read.contains(name)) {
                throw error(name, "unknown property");
              }
            });
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
