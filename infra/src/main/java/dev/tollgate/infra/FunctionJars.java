package dev.tollgate.infra;

import java.io.IOException;
import java.nio.file.Path;
import java.util.zip.ZipFile;

/**
 * The jars with the code of the functions: one shaded jar per module with handlers.
 *
 * @param handlers the session API, the authorizer and the routes of the WebSocket API
 * @param tokenProducer the function that fills buckets
 * @param controlPlane the onboarding API and its sweep
 * @param processor the message processor and the message handler that it calls; by default the same
 *     jar as {@code handlers}, which contains the sample handler
 * @param console the sample client, the operator page, and the function that serves them
 */
public record FunctionJars(
    Path handlers, Path tokenProducer, Path controlPlane, Path processor, Path console) {

  /** The jars as Maven builds them in a checkout of Tollgate with the directory {@code root}. */
  public static FunctionJars under(Path root) {
    Path handlers = jar(root, "handlers");
    return new FunctionJars(
        handlers,
        jar(root, "token-producer"),
        jar(root, "control-plane"),
        handlers,
        jar(root, "console"));
  }

  /** The jars in one directory, as in a release of Tollgate. */
  public static FunctionJars in(Path directory) {
    Path handlers = directory.resolve(name("handlers"));
    return new FunctionJars(
        handlers,
        directory.resolve(name("token-producer")),
        directory.resolve(name("control-plane")),
        handlers,
        directory.resolve(name("console")));
  }

  /** A copy with another jar for the message processor. */
  public FunctionJars withProcessor(Path jar) {
    return new FunctionJars(handlers, tokenProducer, controlPlane, jar, console);
  }

  /**
   * Checks that the processor's jar contains a message handler. Without this check, the error would
   * appear only with the first message.
   *
   * @throws IllegalArgumentException if the class is not in the jar
   */
  void requireInProcessor(String handler) {
    try (ZipFile jar = new ZipFile(processor.toFile())) {
      // Lambda loads classes from jars in this directory, too.
      boolean hasLibraries = jar.stream().anyMatch(entry -> entry.getName().startsWith("lib/"));
      if (!hasLibraries && jar.getEntry(handler.replace('.', '/') + ".class") == null) {
        throw new IllegalArgumentException(
            "messageHandler: no class `%s` in %s (expected: a class of messageHandlerJar)"
                .formatted(handler, processor));
      }
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "messageHandlerJar: %s cannot be read: %s".formatted(processor, e.getMessage()), e);
    }
  }

  private static Path jar(Path root, String module) {
    return root.resolve(module).resolve("target").resolve(name(module));
  }

  private static String name(String module) {
    return "tollgate-" + module + ".jar";
  }
}
