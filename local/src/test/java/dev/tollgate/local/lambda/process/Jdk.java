package dev.tollgate.local.lambda.process;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.stream.Stream;

/** An installed JDK. */
public record Jdk(Path home, Runtime.Version version) {
  private static final Path USER = Path.of(System.getProperty("user.home"));

  /** The directories in which packages and tools install JDKs side by side. */
  private static final List<Path> COLLECTIONS =
      List.of(
          Path.of("/usr/lib/jvm"),
          Path.of("/usr/java"),
          Path.of("/opt/java"),
          Path.of("/opt"),
          USER.resolve(".sdkman/candidates/java"),
          USER.resolve(".asdf/installs/java"),
          USER.resolve(".jdks"));

  /**
   * The JDK for a runtime of Lambda: one of the runtime's version, or else the newest.
   *
   * @param runtime the runtime's identifier, such as {@code java25}
   */
  public static Jdk of(String runtime) {
    String feature = runtime.replaceAll("^java|\\..*$", "");
    List<Jdk> installed = installed();
    return installed.stream()
        .filter(jdk -> feature.equals(Integer.toString(jdk.version.feature())))
        .findFirst()
        .orElse(installed.get(0));
  }

  /** The JDKs of this machine, the newest first; at least the one that runs this. */
  private static List<Jdk> installed() {
    List<Path> homes = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"))));
    for (Map.Entry<String, String> variable : System.getenv().entrySet()) {
      if (variable.getKey().startsWith("JAVA_HOME") && !variable.getValue().isBlank()) {
        homes.add(Path.of(variable.getValue()));
      }
    }
    for (Path collection : COLLECTIONS) {
      if (Files.isDirectory(collection)) {
        try (Stream<Path> children = Files.list(collection)) {
          homes.addAll(children.sorted().toList());
        } catch (IOException e) {
          throw new UncheckedIOException(e);
        }
      }
    }
    return homes.stream()
        .flatMap(home -> at(home).stream())
        .sorted(Comparator.comparing(Jdk::version).reversed())
        .toList();
  }

  private static Optional<Jdk> at(Path home) {
    Path release = home.resolve("release");
    if (!Files.isExecutable(home.resolve("bin/java")) || !Files.isReadable(release)) {
      return Optional.empty();
    }
    Properties properties = new Properties();
    try (Reader in = Files.newBufferedReader(release)) {
      properties.load(in);
      String version = properties.getProperty("JAVA_VERSION", "").replace("\"", "");
      return Optional.of(new Jdk(home, Runtime.Version.parse(version)));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (IllegalArgumentException older) {
      return Optional.empty(); // "1.8.0_452"
    }
  }

  Path java() {
    return home.resolve("bin/java");
  }
}
