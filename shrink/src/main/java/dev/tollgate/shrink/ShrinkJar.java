package dev.tollgate.shrink;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.Deflater;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Removes from a jar what its own classes cannot reach: {@code ShrinkJar JAR OWN-CLASSES MAX-BYTES
 * [ROOT...]}. A root is the name of a class that is loaded by reflection; a name that ends with
 * {@code .*} is a package. A name that ends with {@code ::} is no root, but a final class whose
 * methods are removed unless they are called. Repeating it changes nothing, and equal input gives
 * equal output.
 *
 * <p>Fails, with the largest parts of the jar, if it is larger than the limit afterwards.
 */
public final class ShrinkJar {
  private static final String CLASS = ".class";

  private ShrinkJar() {}

  /** See the class. */
  public static void main(String... arguments) throws IOException {
    List<String> roots = List.of(arguments).subList(3, arguments.length);
    shrink(Path.of(arguments[0]), Path.of(arguments[1]), Long.parseLong(arguments[2]), roots);
  }

  /**
   * Shrinks a jar.
   *
   * @param ownClasses the directory of the module's own classes
   * @throws IllegalStateException if the jar stays larger than {@code maxBytes}
   */
  static void shrink(Path jar, Path ownClasses, long maxBytes, List<String> roots)
      throws IOException {
    Contents contents = Contents.of(jar);
    List<byte[]> classFiles =
        contents.files().entrySet().stream()
            .filter(file -> file.getKey().endsWith(CLASS))
            .map(Map.Entry::getValue)
            .toList();
    Predicate<String> root =
        name ->
            Files.exists(ownClasses.resolve(name + CLASS))
                || roots.stream().anyMatch(pattern -> matches(name, pattern));
    List<String> byMethod =
        roots.stream()
            .filter(name -> name.endsWith("::"))
            .map(name -> name.replace("::", "").replace('.', '/'))
            .toList();
    ReachableCode code = new ReachableCode(classFiles, root, byMethod);
    contents
        .files()
        .forEach(
            (name, file) -> {
              if (name.startsWith("META-INF/services/") || name.endsWith(".interceptors")) {
                code.reachNamesIn(file);
              }
            });
    Path shrunk = jar.resolveSibling(jar.getFileName() + ".shrunk");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(shrunk))) {
      out.setLevel(Deflater.BEST_COMPRESSION);
      for (Map.Entry<String, byte[]> file : contents.files().entrySet()) {
        String name = file.getKey();
        boolean isClass = name.endsWith(CLASS);
        String type = isClass ? name.substring(0, name.length() - CLASS.length()) : "";
        if (!isClass || code.contains(type)) {
          ZipEntry kept = new ZipEntry(name);
          kept.setTimeLocal(Objects.requireNonNull(contents.times().get(name), name));
          out.putNextEntry(kept);
          out.write(isClass ? code.classFile(type) : file.getValue());
          out.closeEntry();
        }
      }
    }
    Files.move(shrunk, jar, StandardCopyOption.REPLACE_EXISTING);
    if (Files.size(jar) > maxBytes) {
      throw new IllegalStateException(
          jar
              + ": "
              + Files.size(jar)
              + " bytes (expected: at most "
              + maxBytes
              + "). Largest parts:\n"
              + largestParts(jar));
    }
  }

  private static boolean matches(String internalName, String pattern) {
    String name = internalName.replace('/', '.');
    return pattern.endsWith(".*")
        ? name.startsWith(pattern.substring(0, pattern.length() - 1))
        : name.equals(pattern) || name.startsWith(pattern + "$");
  }

  /** The files of a jar, in their order. Directories are left out, because nothing reads them. */
  private record Contents(Map<String, byte[]> files, Map<String, LocalDateTime> times) {
    static Contents of(Path jar) throws IOException {
      Contents contents = new Contents(new LinkedHashMap<>(), new LinkedHashMap<>());
      try (ZipFile zip = new ZipFile(jar.toFile(), StandardCharsets.UTF_8)) {
        for (ZipEntry entry : Collections.list(zip.entries())) {
          if (!entry.isDirectory()) {
            contents.files.put(entry.getName(), zip.getInputStream(entry).readAllBytes());
            contents.times.put(entry.getName(), entry.getTimeLocal());
          }
        }
      }
      return contents;
    }
  }

  /** The compressed bytes of the ten largest packages, each named by four names. */
  private static String largestParts(Path jar) throws IOException {
    Map<String, Long> bytes = new TreeMap<>();
    try (ZipFile zip = new ZipFile(jar.toFile(), StandardCharsets.UTF_8)) {
      zip.stream()
          .forEach(
              entry ->
                  bytes.merge(
                      Stream.of(entry.getName().split("/"))
                          .limit(5)
                          .collect(Collectors.joining(".")),
                      entry.getCompressedSize(),
                      Long::sum));
    }
    return bytes.entrySet().stream()
        .sorted(Map.Entry.comparingByValue(Comparator.reverseOrder()))
        .limit(10)
        .map(part -> part.getValue() + " " + part.getKey())
        .collect(Collectors.joining("\n"));
  }
}
