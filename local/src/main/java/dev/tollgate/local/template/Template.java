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
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
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

  private final String stackName;
  private final ObjectNode root;
  private final Map<String, Path> assets;
  private final Set<String> buckets = ConcurrentHashMap.newKeySet();

  private Template(String stackName, ObjectNode root, Map<String, Path> assets) {
    this.stackName = stackName;
    this.root = root;
    this.assets = assets;
    refuseOthers(root, SECTIONS, stackName);
    section("Resources")
        .properties()
        .forEach(entry -> refuseOthers(entry.getValue(), RESOURCE_SECTIONS, entry.getKey()));
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
      String artifact = file.substring(0, file.length() - SUFFIX.length());
      return new Template(
          stackName(assembly, artifact),
          (ObjectNode) Json.read(Files.readAllBytes(templates.get(0))),
          readAssets(assembly, artifact));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** The name of the stack. */
  public String stackName() {
    return stackName;
  }

  /**
   * A resolver for the values of this template.
   *
   * @param resources finds a resource by its logical id, and creates it if it does not exist yet
   */
  public Resolver resolver(Environment environment, Function<String, CreatedResource> resources) {
    return new Resolver(section("Parameters"), section("Conditions"), environment, resources);
  }

  /** The resources whose conditions are true, by logical id. */
  public Map<String, Resource> resources(Resolver resolver) {
    Map<String, Resource> resources = new LinkedHashMap<>();
    existing("Resources", resolver)
        .forEach((id, node) -> resources.put(id, resource(id, node, resolver)));
    return resources;
  }

  /** The resolved outputs, by name. */
  public Map<String, String> outputs(Resolver resolver) {
    Map<String, String> outputs = new LinkedHashMap<>();
    existing("Outputs", resolver)
        .forEach(
            (name, output) -> {
              String place = "Outputs." + name + ".Value";
              outputs.put(name, resolver.resolve(output.path("Value"), place).asText());
            });
    return outputs;
  }

  /** The entries of a section whose conditions are true. */
  private Map<String, ObjectNode> existing(String section, Resolver resolver) {
    Map<String, ObjectNode> existing = new LinkedHashMap<>();
    for (var entry : section(section).properties()) {
      ObjectNode node = (ObjectNode) entry.getValue();
      JsonNode condition = node.path("Condition");
      String place = section + "." + entry.getKey() + ".Condition";
      if (condition.isMissingNode() || resolver.holds(condition.asText(), place)) {
        existing.put(entry.getKey(), node);
      }
    }
    return existing;
  }

  /** Adds a bucket, which holds all files that the stack deploys. */
  public void addBucket(String name) {
    buckets.add(name);
  }

  /** The local file that the stack deploys under a key of a bucket. */
  public Optional<Path> asset(String bucket, String key) {
    return buckets.contains(bucket) ? Optional.ofNullable(assets.get(key)) : Optional.empty();
  }

  private ObjectNode section(String name) {
    return root.get(name) instanceof ObjectNode section ? section : Json.object();
  }

  private static Resource resource(String id, ObjectNode node, Resolver resolver) {
    JsonNode properties = node.path("Properties");
    JsonNode dependsOn = node.path("DependsOn");
    List<String> predecessors = new ArrayList<>();
    (dependsOn.isTextual() ? Json.array().add(dependsOn) : dependsOn)
        .forEach(predecessor -> predecessors.add(predecessor.asText()));
    return new Resource(
        id,
        node.path("Type").asText(),
        new Properties(
            properties instanceof ObjectNode object ? object : Json.object(),
            id + ".Properties",
            resolver),
        predecessors);
  }

  /** The stack's name in the manifest, which may differ from the artifact's. */
  private static String stackName(Path assembly, String artifact) throws IOException {
    Path manifest = assembly.resolve("manifest.json");
    return Files.exists(manifest)
        ? Json.read(Files.readAllBytes(manifest))
            .path("artifacts")
            .path(artifact)
            .path("properties")
            .path("stackName")
            .asText(artifact)
        : artifact;
  }

  private static Map<String, Path> readAssets(Path assembly, String artifact) throws IOException {
    Map<String, Path> assets = new HashMap<>();
    Path manifest = assembly.resolve(artifact + ".assets.json");
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

  private static void refuseOthers(JsonNode node, Set<String> known, String place) {
    for (var member : node.properties()) {
      if (!known.contains(member.getKey())) {
        throw new TemplateException(place + "." + member.getKey(), "unknown section");
      }
    }
  }
}
