package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.aws.config.SdkClients;
import dev.tollgate.client.TollgateClient;
import dev.tollgate.core.TenantId;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import javax.tools.ToolProvider;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * The application of {@code examples/attach}, changed as {@code docs/how-to} says, compiled without
 * Maven and synthesized.
 */
final class AttachedChat {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path PAGE = ROOT.resolve("docs/how-to/add-to-an-existing-api.md");

  private AttachedChat() {}

  /** The lines that the documented change adds. */
  static List<String> addedLines() throws IOException {
    return diff("").lines().filter(line -> line.startsWith("+")).toList();
  }

  /** The first documented change after a heading, or on the page. */
  private static String diff(String heading) throws IOException {
    String page = Files.readString(PAGE);
    assertThat(page).contains(heading);
    Matcher block = Pattern.compile("```diff\n(.*?)```", Pattern.DOTALL).matcher(page);
    assertThat(block.find(page.indexOf(heading))).as("a diff in " + PAGE).isTrue();
    return block.group(1);
  }

  /**
   * Synthesizes the changed application.
   *
   * @param checkout an empty directory
   * @return the assembly
   */
  static Path synthesize(Path checkout) throws Exception {
    return synthesize(checkout, "tenantParameter(\"workspace\")");
  }

  /** Synthesizes the application without Tollgate, which is nowhere in it. */
  static Path unchanged(Path checkout) throws Exception {
    Path app = checkout.resolve("examples/attach");
    copy(ROOT.resolve("examples/attach"), app);
    return built(app);
  }

  /**
   * As {@link #synthesize(Path)}.
   *
   * @param tenants the call that says where a handshake names its tenant
   */
  static Path synthesize(Path checkout, String tenants) throws Exception {
    return synthesize(checkout, tenants, Optional.empty());
  }

  /**
   * As {@link #synthesize(Path)}, with the change that limits messages.
   *
   * @param onSay the source of the function that takes a token for each message
   */
  static Path synthesizeWithMessageLimit(Path checkout, String onSay) throws Exception {
    return synthesize(checkout, "tenantParameter(\"workspace\")", Optional.of(onSay));
  }

  private static Path synthesize(Path checkout, String tenants, Optional<String> onSay)
      throws Exception {
    for (String module :
        List.of("handlers", "token-producer", "control-plane", "console", "infra")) {
      Files.createSymbolicLink(checkout.resolve(module), ROOT.resolve(module));
    }
    Path app = checkout.resolve("examples/attach");
    copy(ROOT.resolve("examples/attach"), app);
    apply(diff(""), app);
    if (onSay.isPresent()) {
      apply(diff("### Limit messages"), app);
      Path functions = app.resolve("functions/src/main/java/com/example/chat");
      Files.writeString(functions.resolve("OnSay.java"), onSay.get());
    }
    Path main = app.resolve("src/main/java/com/example/ChatApp.java");
    Files.writeString(
        main, Files.readString(main).replace("tenantParameter(\"workspace\")", tenants));
    return built(app);
  }

  private static Path built(Path app) throws Exception {
    functionJar(app.resolve("functions"));
    String infra =
        ROOT.resolve("infra/target/classes")
            + File.pathSeparator
            + Files.readString(ROOT.resolve("infra/target/classpath"));
    Path classes = compile(app.resolve("src/main/java"), infra, app.resolve("target/classes"));
    Path assembly = app.resolve("target/cdk.out");
    Path log = app.resolve("target/synth.log");
    ProcessBuilder synth =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classes + File.pathSeparator + infra,
                "com.example.ChatApp")
            .directory(app.toFile())
            .redirectErrorStream(true)
            .redirectOutput(log.toFile());
    synth.environment().put("CDK_OUTDIR", assembly.toString());
    synth.environment().put("JSII_SILENCE_WARNING_END_OF_LIFE_NODE_VERSION", "20");
    Process process = synth.start();
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    return assembly;
  }

  private static void apply(String diff, Path app) throws IOException {
    for (String file : diff.split("(?m)^--- ")) {
      if (!file.isBlank()) {
        String[] parts = file.split("\n", 2);
        change(app.resolve(parts[0]), parts[1]);
      }
    }
  }

  /** Copies what is in version control. */
  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : files.filter(each -> !each.toString().contains("target")).toList()) {
        Path copy = to.resolve(from.relativize(file).toString());
        Files.createDirectories(Files.isDirectory(file) ? copy : copy.getParent());
        if (Files.isRegularFile(file)) {
          Files.copy(file, copy);
        }
      }
    }
  }

  /** Applies the hunks of a file. The lines that stay say where each belongs, once. */
  private static void change(Path file, String hunks) throws IOException {
    String text = Files.readString(file);
    for (String hunk : hunks.split("(?m)^@@\n")) {
      if (!hunk.isBlank()) {
        String before = lines(hunk, '+');
        assertThat(text.split(Pattern.quote(before), -1)).as(before).hasSize(2);
        text = text.replace(before, lines(hunk, '-'));
      }
    }
    Files.writeString(file, text);
  }

  /** The lines of a hunk without those that begin with a sign, and without the signs of others. */
  private static String lines(String hunk, char omitted) {
    return hunk.lines()
        .filter(line -> line.isEmpty() || line.charAt(0) != omitted)
        .map(line -> line.isEmpty() ? "\n" : line.substring(1) + "\n")
        .collect(Collectors.joining());
  }

  private static Path compile(Path sources, String classPath, Path classes) throws IOException {
    Files.createDirectories(classes);
    List<String> arguments =
        new ArrayList<>(
            List.of("-nowarn", "-proc:none", "-cp", classPath, "-d", classes.toString()));
    try (Stream<Path> files = Files.walk(sources)) {
      files.map(Path::toString).filter(name -> name.endsWith(".java")).forEach(arguments::add);
    }
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, arguments.toArray(String[]::new)))
        .isZero();
    return classes;
  }

  /** A jar of the functions that refers to its libraries instead of containing them. */
  private static void functionJar(Path functions) throws Exception {
    List<Path> libraries = libraries();
    String classPath =
        libraries.stream().map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    Path classes =
        compile(
            functions.resolve("src/main/java"),
            classPath + File.pathSeparator + location(RequestHandler.class),
            functions.resolve("target/classes"));
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest
        .getMainAttributes()
        .put(
            Attributes.Name.CLASS_PATH,
            libraries.stream()
                .map(library -> library.toUri().toString())
                .collect(Collectors.joining(" ")));
    try (OutputStream file = Files.newOutputStream(functions.resolve("target/chat-functions.jar"));
        JarOutputStream jar = new JarOutputStream(file, manifest);
        Stream<Path> compiled = Files.walk(classes)) {
      for (Path each : compiled.filter(Files::isRegularFile).toList()) {
        jar.putNextEntry(new ZipEntry(classes.relativize(each).toString()));
        Files.copy(each, jar);
      }
    }
  }

  /** The AWS SDK, the client for claims, and what they need, from this test's class path. */
  private static List<Path> libraries() throws URISyntaxException {
    assertThat(location(DynamoDbClient.class)).isRegularFile();
    Stream<Path> sdk =
        Stream.of(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path"))
                    .split(File.pathSeparator))
            .map(Path::of)
            .filter(path -> path.toString().matches(".*/(awssdk|reactivestreams|slf4j-api)[-/].*"))
            .filter(
                path -> !path.toString().contains("netty") && !path.toString().contains("apache"));
    List<Path> client =
        List.of(
            location(TollgateClient.class), location(SdkClients.class), location(TenantId.class));
    return Stream.concat(sdk, client.stream()).toList();
  }

  private static Path location(Class<?> type) throws URISyntaxException {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }
}
