package dev.tollgate.cli.context;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.net.URI;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.FileSystemLoopException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Collections;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

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
  /** As many as Linux follows. */
  private static final int MAX_LINKS = 40;

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
    Path file = file(configuration);
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
    try {
      required(document, "contexts", JsonNode::isObject, "an object")
          .properties()
          .forEach(
              context -> contexts.put(context.getKey(), of(context.getKey(), context.getValue())));
      return new ContextFile(file, optionalText(document, "current"), contexts);
    } catch (IllegalArgumentException e) {
      throw Failure.usage(file + ": " + e.getMessage());
    }
  }

  private static Context of(String name, JsonNode context) {
    try {
      return new Context(
          name,
          absolutePath(requiredText(context, "outputs")),
          requiredText(context, "stack"),
          url(requiredText(context, "url")),
          optionalText(context, "region"),
          optionalText(context, "profile"),
          required(context, "production", JsonNode::isBoolean, "true or false").booleanValue());
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("context " + name + ": " + e.getMessage(), e);
    }
  }

  private static Path absolutePath(String text) {
    Path path = Path.of(text);
    if (!path.isAbsolute()) {
      throw new IllegalArgumentException("outputs: " + text + " (expected: an absolute path)");
    }
    return path;
  }

  private static URI url(String text) {
    try {
      return Endpoint.url(text, Endpoint.HTTP);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("url: " + e.getMessage(), e);
    }
  }

  private static Optional<String> optionalText(JsonNode document, String field) {
    return document.has(field) ? Optional.of(requiredText(document, field)) : Optional.empty();
  }

  private static String requiredText(JsonNode document, String field) {
    return required(document, field, JsonNode::isTextual, "a string").textValue();
  }

  /** A value of the right type, since a mark that is misread protects nothing. */
  private static JsonNode required(
      JsonNode document, String field, Predicate<JsonNode> type, String expected) {
    JsonNode value = document.path(field);
    if (type.test(value)) {
      return value;
    }
    throw new IllegalArgumentException(
        value.isMissingNode()
            ? "%s is missing (expected: %s)".formatted(field, expected)
            : "%s: %s (expected: %s)".formatted(field, Json.text(value), expected));
  }

  /** A copy with a context, which replaces one of the same name. */
  public ContextFile with(Context context) {
    SortedMap<String, Context> more = new TreeMap<>(contexts);
    more.put(context.name(), context);
    return new ContextFile(file, current, more);
  }

  /**
   * A copy with a context of a new name.
   *
   * @throws Failure if the name is in use
   */
  public ContextFile withNew(Context context) {
    if (contexts.containsKey(context.name())) {
      throw Failure.usage(
          "Context `%1$s` already exists. Remove it first with `tollgate context remove %1$s`."
              .formatted(context.name()));
    }
    return with(context);
  }

  /**
   * A copy without a context.
   *
   * @throws Failure if there is no such context any more
   */
  public ContextFile without(Context context) {
    String name = context.name();
    if (!named(name).equals(context)) {
      throw Failure.of(
          "Context `" + name + "` was changed by another command. Nothing was changed.");
    }
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
    Optional<String> context = productionContext(outputs.controlPlane());
    return new Target(context, context.isPresent(), outputs, Optional.empty(), Optional.empty());
  }

  /** A context that marks a deployment as production. */
  private Optional<String> productionContext(URI url) {
    Endpoint endpoint = Endpoint.of(url);
    return contexts.values().stream()
        .filter(context -> context.production() && Endpoint.of(context.url()).equals(endpoint))
        .map(Context::name)
        .findFirst();
  }

  private String existing() {
    return contexts.isEmpty()
        ? "There are no contexts. Add one with `tollgate context add NAME --outputs FILE`."
        : "Contexts: " + String.join(", ", contexts.keySet()) + ".";
  }

  /**
   * Changes the file. Commands that change it at the same time wait for each other, so that no
   * change is lost. Readers see the old or the new content, never a part.
   *
   * @param configuration the directory of the user's settings
   * @param change turns the current content into the new one; if it fails, nothing is written
   * @return the new content
   * @throws Failure if the file cannot be read or written
   */
  public static ContextFile update(Path configuration, UnaryOperator<ContextFile> change) {
    Path file = file(configuration);
    // A lock on a file excludes only other processes.
    synchronized (ContextFile.class) {
      try {
        Files.createDirectories(configuration);
        Path real = real(file);
        Path lock = real.resolveSibling(real.getFileName() + ".lock");
        try (FileChannel channel =
            FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
          FileLock unusedUntilClosed = channel.lock();
          ContextFile changed = change.apply(read(configuration));
          replace(real, Json.writePretty(changed.document()) + "\n");
          return changed;
        }
      } catch (IOException e) {
        throw Failure.of("Cannot write " + file + ": " + e.getMessage(), e);
      }
    }
  }

  private static void replace(Path file, String content) throws IOException {
    Path complete = Files.createTempFile(file.resolveSibling(""), "contexts", ".json");
    try {
      Files.writeString(complete, content);
      Files.move(
          complete, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(complete);
    }
  }

  /** The file behind symbolic links, which the user keeps elsewhere. It need not exist. */
  private static Path real(Path file) throws IOException {
    Path real = file;
    for (int links = 0; Files.isSymbolicLink(real); links++) {
      if (links == MAX_LINKS) {
        throw new FileSystemLoopException(file.toString());
      }
      real = real.resolveSibling(Files.readSymbolicLink(real));
    }
    return real;
  }

  private static Path file(Path configuration) {
    return configuration.resolve("contexts.json");
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
