package dev.tollgate.cli.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The contexts of one user, and the one that is in use. Commands read only this file in the user's
 * own configuration directory, so a file that somebody left in a shared directory addresses
 * nothing.
 *
 * @param file the file that holds them
 * @param current the context that `tollgate context use` has chosen
 * @param contexts the contexts by name
 */
public record ContextFile(
    Path file, Optional<String> current, SortedMap<String, Context> contexts) {

  public ContextFile {
    contexts = Collections.unmodifiableSortedMap(new TreeMap<>(contexts));
  }

  /**
   * Reads the file; there are no contexts if it does not exist.
   *
   * @param configuration the directory of the user's settings
   * @throws Failure if it cannot be read
   */
  public static ContextFile read(Path configuration) {
    Path file = configuration.resolve("contexts.json");
    String text;
    try {
      text = Files.readString(file);
    } catch (NoSuchFileException e) {
      return new ContextFile(file, Optional.empty(), new TreeMap<>());
    } catch (IOException e) {
      throw Failure.unreadable(file, e);
    }
    JsonNode document = Json.read(file.toString(), text);
    SortedMap<String, Context> contexts = new TreeMap<>();
    document
        .path("contexts")
        .properties()
        .forEach(
            context ->
                contexts.put(context.getKey(), of(file, context.getKey(), context.getValue())));
    return new ContextFile(file, Json.text(document, "current"), contexts);
  }

  private static Context of(Path file, String name, JsonNode context) {
    try {
      return new Context(
          name,
          Path.of(required(file, name, context, "outputs")),
          required(file, name, context, "stack"),
          URI.create(required(file, name, context, "url")),
          Json.text(context, "region"),
          Json.text(context, "profile"),
          context.path("production").asBoolean());
    } catch (IllegalArgumentException e) {
      throw Failure.usage(file + ": context " + name + ": " + e.getMessage());
    }
  }

  private static String required(Path file, String name, JsonNode context, String field) {
    return Json.text(context, field)
        .orElseThrow(
            () ->
                Failure.usage(
                    file
                        + ": context "
                        + name
                        + ": "
                        + field
                        + " is missing (expected: a string)"));
  }

  /** A copy with a context, which replaces one of the same name. */
  public ContextFile with(Context context) {
    SortedMap<String, Context> more = new TreeMap<>(contexts);
    more.put(context.name(), context);
    return new ContextFile(file, current, more);
  }

  /** A copy without a context. */
  public ContextFile without(String name) {
    SortedMap<String, Context> fewer = new TreeMap<>(contexts);
    fewer.remove(name);
    return new ContextFile(file, current.filter(used -> !used.equals(name)), fewer);
  }

  /** A copy that uses a context. */
  public ContextFile using(String name) {
    return new ContextFile(file, Optional.of(name), contexts);
  }

  /**
   * A context.
   *
   * @throws Failure that names the contexts there are
   */
  public Context named(String name) {
    return Optional.ofNullable(contexts.get(name))
        .orElseThrow(() -> Failure.usage("No context named `" + name + "`. " + existing()));
  }

  /** The context that a command addresses unless it names another; empty if there is none. */
  public Optional<String> chosen() {
    return current.or(
        () -> Optional.of(Context.LOCAL).filter(local -> contexts.containsKey(local)));
  }

  /**
   * The deployment of a context.
   *
   * @param name the context's name; empty for the chosen one
   * @throws Failure if there is no such context, or its outputs file describes another deployment
   */
  public Target target(Optional<String> name) {
    Context context =
        named(
            name.or(this::chosen)
                .orElseThrow(
                    () ->
                        Failure.usage(
                            "No deployment is addressed. Start a local cloud with `./tollgate up`,"
                                + " choose a context with --context, or pass the file that `cdk"
                                + " deploy --outputs-file` wrote with --outputs. "
                                + existing())));
    return new Target(
        Optional.of(context.name()),
        productionContext(context.url()).isPresent(),
        context.read(),
        context.region(),
        context.profile());
  }

  /** The deployment that an outputs file describes. */
  public Target target(Outputs outputs) {
    Optional<String> context =
        Optional.ofNullable(outputs.values().get(Outputs.CONTROL_PLANE))
            .flatMap(url -> productionContext(URI.create(url)));
    return new Target(context, context.isPresent(), outputs, Optional.empty(), Optional.empty());
  }

  /** A context that marks a deployment as production. */
  private Optional<String> productionContext(URI url) {
    return contexts.values().stream()
        .filter(context -> context.production() && context.url().equals(url))
        .map(Context::name)
        .findFirst();
  }

  private String existing() {
    return contexts.isEmpty()
        ? "There are no contexts. Add one with `tollgate context add NAME --outputs FILE`."
        : "Contexts: " + String.join(", ", contexts.keySet()) + ".";
  }

  /**
   * Writes the file. Readers see the old or the new content, never a part.
   *
   * @throws Failure if it cannot be written
   */
  public void write() {
    try {
      Path directory = Files.createDirectories(file.toAbsolutePath().resolveSibling(""));
      Path complete = Files.createTempFile(directory, "contexts", ".json");
      Files.writeString(complete, Json.writePretty(document()) + "\n");
      Files.move(
          complete, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } catch (IOException e) {
      throw Failure.of("Cannot write " + file + ": " + e.getMessage(), e);
    }
  }

  /** The contexts as JSON, as the file holds them. */
  public ObjectNode document() {
    ObjectNode document = Json.object();
    current.ifPresent(name -> document.put("current", name));
    ObjectNode all = document.putObject("contexts");
    contexts.forEach(
        (name, context) -> {
          ObjectNode one =
              all.putObject(name)
                  .put("outputs", context.outputs().toString())
                  .put("stack", context.stack())
                  .put("url", context.url().toString());
          context.region().ifPresent(region -> one.put("region", region));
          context.profile().ifPresent(profile -> one.put("profile", profile));
          one.put("production", context.production());
        });
    return document;
  }
}
