package dev.tollgate.local.template;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A stack's template and its assets, as {@code cdk synth} writes them to {@code cdk.out}. */
public final class Template {
  private static final String SUFFIX = ".template.json";
  private static final Set<String> SECTIONS =
      Set.of(
          "AWSTemplateFormatVersion",
          "Conditions",
          "Description",
          "Metadata",
          "Outputs",
          "Parameters",
          "Resources",
          "Rules");
  private static final Set<String> RESOURCE_SECTIONS =
      Set.of(
          "Condition",
          "DeletionPolicy",
          "DependsOn",
          "Metadata",
          "Properties",
          "Type",
          "UpdateReplacePolicy");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([^!}][^}]*)}");

  private final String stackName;
  private final ObjectNode root;
  private final Map<String, Path> assets;

  private Template(String stackName, ObjectNode root, Map<String, Path> assets) {
    this.stackName = stackName;
    this.root = root;
    this.assets = assets;
    refuseOthers(root, SECTIONS, stackName);
  }

  /**
   * Reads the one template in a cloud assembly.
   *
   * @param assembly the directory that {@code cdk synth} wrote
   * @throws UncheckedIOException if it cannot be read
   * @throws TemplateException if it holds no template or several, or one with an unknown section
   */
  public static Template read(Path assembly) {
    try (Stream<Path> files = Files.list(assembly)) {
      List<Path> templates =
          files.filter(file -> file.getFileName().toString().endsWith(SUFFIX)).toList();
      if (templates.size() != 1) {
        throw new TemplateException(
            assembly.toString(), templates.size() + " templates (expected: 1)");
      }
      String file = templates.get(0).getFileName().toString();
      String stackName = file.substring(0, file.length() - SUFFIX.length());
      return new Template(
          stackName,
          (ObjectNode) Json.read(Files.readAllBytes(templates.get(0))),
          readAssets(assembly, stackName));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The name of the stack. */
  public String stackName() {
    return stackName;
  }

  /** A resolver for the values of this template. */
  public Resolver resolver(Environment environment, References references) {
    return new Resolver(section("Parameters"), section("Conditions"), environment, references);
  }

  /**
   * The resources whose conditions are true, each after the resources that it depends on.
   *
   * @throws TemplateException if dependencies form a cycle or a dependency does not exist
   */
  public List<Resource> resources(Resolver resolver) {
    Map<String, Resource> all = new LinkedHashMap<>();
    section("Resources")
        .properties()
        .forEach(
            entry -> {
              String id = entry.getKey();
              ObjectNode node = (ObjectNode) entry.getValue();
              refuseOthers(node, RESOURCE_SECTIONS, id);
              if (!node.has("Condition")
                  || resolver.holds(node.get("Condition").asText(), id + ".Condition")) {
                all.put(id, resource(id, node));
              }
            });
    Set<Resource> ordered = new LinkedHashSet<>();
    all.values().forEach(resource -> visit(resource, all, ordered, new LinkedHashSet<>()));
    return List.copyOf(ordered);
  }

  /** The properties of a resource, to be read through the resolver. */
  public static Properties properties(Resource resource, Resolver resolver) {
    return new Properties(resource.properties(), resource.logicalId() + ".Properties", resolver);
  }

  /** The resolved outputs, by name. */
  public Map<String, String> outputs(Resolver resolver) {
    Map<String, String> outputs = new LinkedHashMap<>();
    section("Outputs")
        .properties()
        .forEach(
            entry -> {
              String place = "Outputs." + entry.getKey();
              JsonNode output = entry.getValue();
              if (!output.has("Condition")
                  || resolver.holds(output.get("Condition").asText(), place)) {
                outputs.put(
                    entry.getKey(),
                    resolver.resolve(output.path("Value"), place + ".Value").asText());
              }
            });
    return outputs;
  }

  /** The local file that the stack deploys under a key of the bootstrap bucket. */
  public Optional<Path> asset(String objectKey) {
    return Optional.ofNullable(assets.get(objectKey));
  }

  private ObjectNode section(String name) {
    return root.get(name) instanceof ObjectNode section ? section : Json.object();
  }

  private Resource resource(String id, ObjectNode node) {
    Set<String> dependencies = new HashSet<>();
    JsonNode properties = node.path("Properties");
    references(properties, dependencies);
    dependencies.retainAll(resourceIds());
    JsonNode dependsOn = node.path("DependsOn");
    if (dependsOn.isTextual()) {
      dependencies.add(dependsOn.asText());
    }
    dependsOn.forEach(dependency -> dependencies.add(dependency.asText()));
    return new Resource(
        id,
        node.path("Type").asText(),
        properties instanceof ObjectNode object ? object : Json.object(),
        dependencies);
  }

  private Set<String> resourceIds() {
    Set<String> ids = new HashSet<>();
    section("Resources").fieldNames().forEachRemaining(ids::add);
    return ids;
  }

  /**
   * Collects the names that a value's intrinsics refer to: resources, parameters and local
   * variables of {@code Fn::Sub}.
   */
  private static void references(JsonNode value, Set<String> found) {
    if (value.path("Ref").isTextual()) {
      found.add(value.get("Ref").asText());
    }
    JsonNode attribute = value.path("Fn::GetAtt");
    if (!attribute.isMissingNode()) {
      found.add(attribute.isTextual() ? beforeDot(attribute.asText()) : attribute.path(0).asText());
    }
    JsonNode sub = value.path("Fn::Sub");
    Matcher variables = VARIABLE.matcher(sub.isArray() ? sub.path(0).asText() : sub.asText());
    while (variables.find()) {
      found.add(beforeDot(variables.group(1).trim()));
    }
    value.forEach(child -> references(child, found));
  }

  private static String beforeDot(String text) {
    return text.contains(".") ? text.substring(0, text.indexOf('.')) : text;
  }

  private static void visit(
      Resource resource, Map<String, Resource> all, Set<Resource> ordered, Set<String> path) {
    if (ordered.contains(resource)) {
      return;
    }
    String id = resource.logicalId();
    if (!path.add(id)) {
      throw new TemplateException(id, "depends on itself by way of " + path);
    }
    List<String> dependencies = new ArrayList<>(resource.dependencies());
    dependencies.sort(null);
    for (String dependency : dependencies) {
      Resource target = all.get(dependency);
      if (target == null) {
        throw new TemplateException(id, "depends on " + dependency + ", which is not there");
      }
      visit(target, all, ordered, path);
    }
    path.remove(id);
    ordered.add(resource);
  }

  private static Map<String, Path> readAssets(Path assembly, String stackName) throws IOException {
    Map<String, Path> assets = new HashMap<>();
    Path manifest = assembly.resolve(stackName + ".assets.json");
    if (Files.exists(manifest)) {
      for (JsonNode file : Json.read(Files.readAllBytes(manifest)).path("files")) {
        Path source = assembly.resolve(file.at("/source/path").asText());
        for (JsonNode destination : file.path("destinations")) {
          assets.put(destination.path("objectKey").asText(), source);
        }
      }
    }
    return assets;
  }

  private static void refuseOthers(ObjectNode node, Set<String> known, String place) {
    node.fieldNames()
        .forEachRemaining(
            name -> {
              if (!known.contains(name)) {
                throw new TemplateException(place + "." + name, "unknown section");
              }
            });
  }
}
