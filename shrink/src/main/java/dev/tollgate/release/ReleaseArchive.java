package dev.tollgate.release;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.File;
import java.io.IOException;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes the release archive of a built checkout: a zip with one directory. Two builds of the same
 * sources yield the same bytes: entries are sorted, and their times and permissions are fixed.
 *
 * <p>{@code lib} contains each jar once. The files {@code lib/classpath} and {@code
 * lib/cdk.classpath} list the class paths of the command line and of the CDK app in their order.
 */
public final class ReleaseArchive {
  /** The pages at the root of the checkout, which link to each other. */
  private static final List<String> PAGES =
      List.of(
          "ARCHITECTURE.md",
          "CHANGELOG.md",
          "CONTRIBUTING.md",
          "LICENSE",
          "RATIONALE.md",
          "README.md",
          "SECURITY.md");

  private static final List<String> FUNCTION_MODULES =
      List.of("console", "control-plane", "handlers", "probe", "token-producer");

  private static final String LAUNCHER = "tollgate";

  private static final String METADATA = "Tollgate.metadata.json";

  /** The random directory of the CDK's code, which stack traces in the metadata contain. */
  private static final Pattern TEMPORARY_DIRECTORY =
      Pattern.compile("[^\" ]*/jsii-kernel-[A-Za-z0-9]+/");

  private final Path checkout;

  /** The contents of the files by their names in the archive. */
  private final SortedMap<String, Content> contents = new TreeMap<>();

  /** The jars on class paths by their names in the archive. */
  private final Map<String, Path> jars = new HashMap<>();

  private interface Content {
    void writeTo(Path target) throws IOException;
  }

  private ReleaseArchive(Path checkout) {
    this.checkout = checkout;
  }

  /**
   * Writes {@code NAME.zip}, the bill of materials {@code NAME.bom.json}, and {@code SHA256SUMS} of
   * both.
   *
   * @param args the checkout, the directory to write to, NAME, and the time of the entries. The
   *     program must run with {@code -Duser.timezone=UTC}, because zip files contain local times.
   */
  public static void main(String[] args) throws IOException {
    Path checkout = Path.of(args[0]);
    Path directory = Files.createDirectories(Path.of(args[1]));
    String name = args[2];
    Path zip = directory.resolve(name + ".zip");
    write(checkout, zip, name, Instant.parse(args[3]));
    Path bill = directory.resolve(name + ".bom.json");
    Files.copy(checkout.resolve("target/bom.json"), bill, StandardCopyOption.REPLACE_EXISTING);
    Files.writeString(directory.resolve("SHA256SUMS"), checksum(bill) + checksum(zip));
  }

  /** A line that {@code sha256sum --check} reads. */
  private static String checksum(Path file) throws IOException {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
      return HexFormat.of().formatHex(hash) + "  " + file.getFileName() + "\n";
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError(e);
    }
  }

  /**
   * Replaces the zip.
   *
   * @param name the name of the directory in the zip
   * @param time the time of all entries
   * @throws IllegalStateException if two jars have the same name
   */
  static void write(Path checkout, Path zip, String name, Instant time) throws IOException {
    ReleaseArchive archive = new ReleaseArchive(checkout);
    archive.collect();
    archive.writeTo(zip, name, FileTime.from(time));
  }

  private void collect() throws IOException {
    for (String page : PAGES) {
      add(page, checkout.resolve(page));
    }
    add(LAUNCHER, checkout.resolve(LAUNCHER));
    add("cdk.json", checkout.resolve("dist/src/cdk.json"));
    addPages();
    // The command line's own jars come first, as in the launcher.
    addClassPath(
        "lib/classpath",
        List.of(
            checkout.resolve("cli/target/tollgate-cli.jar"),
            checkout.resolve("local/target/tollgate-local.jar"),
            checkout.resolve("clients/socket/target/tollgate-socket-client.jar"),
            checkout.resolve("cli/target/dynamodb-local.jar")),
        checkout.resolve("cli/target/classpath"));
    addClassPath(
        "lib/cdk.classpath",
        List.of(checkout.resolve("infra/target/tollgate-infra.jar")),
        checkout.resolve("infra/target/classpath"));
    for (String module : FUNCTION_MODULES) {
      String jar = "tollgate-" + module + ".jar";
      add("lib/functions/" + jar, checkout.resolve(module).resolve("target").resolve(jar));
    }
    addStack();
  }

  /** Adds {@code docs} without the sources of the site and without hidden files. */
  private void addPages() throws IOException {
    Path docs = checkout.resolve("docs");
    for (Path file : filesIn(docs)) {
      Path page = docs.relativize(file);
      if (!page.startsWith("site") && !page.getFileName().toString().startsWith(".")) {
        add("docs/" + page.toString().replace(File.separatorChar, '/'), file);
      }
    }
  }

  private void addClassPath(String name, List<Path> own, Path classPath) throws IOException {
    Stream<Path> others =
        Arrays.stream(Files.readString(classPath).strip().split(File.pathSeparator, -1))
            .map(Path::of);
    List<String> entries = Stream.concat(own.stream(), others).map(this::addJar).toList();
    String text = String.join(":", entries) + "\n";
    addText(name, text);
  }

  private String addJar(Path jar) {
    String name = "lib/" + jar.getFileName();
    Path other = jars.put(name, jar);
    if (other != null && !other.equals(jar)) {
      throw new IllegalStateException("Two jars have the same name: " + other + " and " + jar);
    }
    add(name, jar);
    return name;
  }

  private void addText(String name, String text) {
    contents.put(name, target -> Files.writeString(target, text, UTF_8));
  }

  private void add(String name, Path file) {
    contents.put(name, target -> Files.copy(file, target));
  }

  /** Adds the synthesized stack, without the assets that earlier syntheses left there. */
  private void addStack() throws IOException {
    Path stack = checkout.resolve("infra/target/cdk.out");
    String assets = Files.readString(stack.resolve("Tollgate.assets.json"));
    for (Path file : filesIn(stack)) {
      String name = file.getFileName().toString();
      if (!name.startsWith("asset.") || assets.contains('"' + name + '"')) {
        add("stack/" + name, file);
      }
    }
    String metadata = Files.readString(stack.resolve(METADATA));
    addText("stack/" + METADATA, TEMPORARY_DIRECTORY.matcher(metadata).replaceAll("jsii-kernel/"));
  }

  private static List<Path> filesIn(Path directory) throws IOException {
    try (Stream<Path> walk = Files.walk(directory)) {
      return walk.filter(Files::isRegularFile).toList();
    }
  }

  private void writeTo(Path zip, String name, FileTime time) throws IOException {
    Files.deleteIfExists(zip);
    try (FileSystem archive =
        FileSystems.newFileSystem(
            zip, Map.of("create", "true", "enablePosixFileAttributes", "true"))) {
      Path top = archive.getPath(name);
      for (Map.Entry<String, Content> entry : contents.entrySet()) {
        Path target = top.resolve(entry.getKey());
        Files.createDirectories(target.getParent());
        entry.getValue().writeTo(target);
      }
      try (Stream<Path> walk = Files.walk(top)) {
        for (Path path : walk.toList()) {
          boolean executable = Files.isDirectory(path) || path.equals(top.resolve(LAUNCHER));
          Files.setPosixFilePermissions(
              path, PosixFilePermissions.fromString(executable ? "rwxr-xr-x" : "rw-r--r--"));
          Files.getFileAttributeView(path, BasicFileAttributeView.class).setTimes(time, time, time);
        }
      }
    }
  }
}
