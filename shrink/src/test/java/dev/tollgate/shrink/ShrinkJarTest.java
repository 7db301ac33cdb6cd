package dev.tollgate.shrink;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class ShrinkJarTest {
  private static final String TOY = "software/amazon/awssdk/services/toy/";
  private static final String REGIONS = "software/amazon/awssdk/regions/";

  /** A client with the shape of the SDK's, and a function that calls one of its operations. */
  private static final Map<String, String> SOURCES =
      Map.of(
          "app/Function",
          """
          public class Function implements java.util.function.Supplier<String> {
            public String get() {
              var client = new software.amazon.awssdk.services.toy.DefaultToyClient();
              return toy(client) + loaded();
            }
            static String toy(software.amazon.awssdk.services.toy.ToyClient client) {
              return client.read(new software.amazon.awssdk.services.toy.model.ReadRequest());
            }
            static String loaded() {
              try {
                return Class.forName("lib.ByName").getSimpleName();
              } catch (ClassNotFoundException e) {
                return e.toString();
              }
            }
          }
          """,
          "lib/ByName",
          "public class ByName { Object used = new Used(); }",
          "lib/Used",
          "public class Used {}",
          "lib/Unused",
          "public class Unused {}",
          "lib/ByService",
          "public class ByService {}",
          TOY + "ToyClient",
          """
          import software.amazon.awssdk.services.toy.model.*;
          public interface ToyClient extends AutoCloseable {
            default String read(ReadRequest request) { throw new UnsupportedOperationException(); }
            default String write(WriteRequest request) { throw new UnsupportedOperationException(); }
            default String readTwice(ReadRequest request) { return read(request) + read(request); }
            default void close() {}
          }
          """,
          TOY + "DefaultToyClient",
          """
          import software.amazon.awssdk.services.toy.model.*;
          public class DefaultToyClient implements ToyClient {
            final Object table = DefaultToyBaseClientBuilder.table();
            public String read(ReadRequest request) {
              java.util.function.Supplier<String> answer = () -> "read" + request;
              return answer.get() + table;
            }
            public String write(WriteRequest request) {
              java.util.function.Supplier<String> answer = () -> "written" + new OnlyWritten();
              return answer.get();
            }
          }
          """,
          TOY + "DefaultToyBaseClientBuilder",
          """
          public class DefaultToyBaseClientBuilder {
            static Object table() {
              return software.amazon.awssdk.regions.GeneratedServiceMetadataProvider.TABLE;
            }
            String serviceEndpointPrefix() { return "toy"; }
          }
          """,
          TOY + "model/ReadRequest",
          "public class ReadRequest { public String toString() { return \"Request\"; } }",
          TOY + "model/WriteRequest",
          "public class WriteRequest {}");

  private static final Map<String, String> MORE_SOURCES =
      Map.of(
          TOY + "model/OnlyWritten",
          "public class OnlyWritten {}",
          REGIONS + "GeneratedServiceMetadataProvider",
          """
          public class GeneratedServiceMetadataProvider {
            public static final Table TABLE;
            static {
              TABLE = new Table()
                  .put("game", new GameMetadata())
                  .put("toy", new ToyMetadata());
            }
            public static class Table {
              final java.util.Map<String, Object> map = new java.util.TreeMap<>();
              Table put(String key, Object value) { map.put(key, value); return this; }
              public String toString() { return map.keySet().toString(); }
            }
          }
          """,
          REGIONS + "GameMetadata",
          "public class GameMetadata {}",
          REGIONS + "ToyMetadata",
          "public class ToyMetadata {}");

  @TempDir private Path directory;
  private Path own;
  private Path jar;

  @BeforeEach
  void build() throws IOException {
    Path sources = directory.resolve("src");
    List<String> arguments = new ArrayList<>(List.of("-g", "-d", directory + "/all"));
    for (Map<String, String> some : List.of(SOURCES, MORE_SOURCES)) {
      for (Map.Entry<String, String> source : some.entrySet()) {
        Path file = sources.resolve(source.getKey() + ".java");
        Files.createDirectories(file.getParent());
        String name = source.getKey().substring(0, source.getKey().lastIndexOf('/'));
        Files.writeString(file, "package " + name.replace('/', '.') + ";\n" + source.getValue());
        arguments.add(file.toString());
      }
    }
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .run(null, null, null, arguments.toArray(String[]::new)))
        .isZero();
    own = directory.resolve("own");
    Files.createDirectories(own.resolve("app"));
    Files.copy(directory.resolve("all/app/Function.class"), own.resolve("app/Function.class"));
    jar = directory.resolve("function.jar");
    try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar));
        Stream<Path> files = Files.walk(directory.resolve("all"))) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        out.putNextEntry(new ZipEntry(directory.resolve("all").relativize(file).toString()));
        out.write(Files.readAllBytes(file));
      }
      out.putNextEntry(new ZipEntry("META-INF/services/any.Service"));
      out.write("lib.ByService # a comment\n".getBytes(java.nio.charset.StandardCharsets.UTF_8));
    }
  }

  private void shrink() throws IOException {
    ShrinkJar.shrink(jar, own, 1_000_000, List.of());
  }

  private Set<String> classes() throws IOException {
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      return zip.stream()
          .map(ZipEntry::getName)
          .filter(name -> name.endsWith(".class"))
          .map(name -> name.substring(name.lastIndexOf('/') + 1, name.length() - 6))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  @Test
  void what_the_function_reaches_is_kept_and_all_else_is_removed() throws IOException {
    shrink();

    assertThat(classes())
        .containsExactly(
            "ByName",
            "ByService",
            "DefaultToyBaseClientBuilder",
            "DefaultToyClient",
            "Function",
            "GeneratedServiceMetadataProvider",
            "GeneratedServiceMetadataProvider$Table",
            "ReadRequest",
            "ToyClient",
            "ToyMetadata",
            "Used");
  }

  @Test
  void the_function_works_without_what_was_removed() throws Exception {
    shrink();

    try (URLClassLoader loader =
        new URLClassLoader(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader())) {
      Object function = loader.loadClass("app.Function").getConstructor().newInstance();
      assertThat(((java.util.function.Supplier<?>) function).get())
          .isEqualTo("readRequest[toy]ByName");
      Class<?> client = loader.loadClass(TOY.replace('/', '.') + "ToyClient");
      assertThat(client.getDeclaredMethods())
          .extracting(java.lang.reflect.Method::getName)
          .containsExactlyInAnyOrder("read", "close");
    }
  }

  @Test
  void a_class_that_is_named_to_the_tool_is_kept() throws IOException {
    ShrinkJar.shrink(
        jar, own, 1_000_000, List.of("lib.Unused", "software.amazon.awssdk.regions.*"));

    assertThat(classes()).contains("Unused", "GameMetadata").doesNotContain("WriteRequest");
  }

  @Test
  void shrinking_twice_changes_nothing() throws IOException {
    shrink();
    byte[] once = Files.readAllBytes(jar);

    shrink();

    assertThat(Files.readAllBytes(jar)).isEqualTo(once);
  }

  @Test
  void a_jar_that_stays_too_large_fails_with_its_largest_parts() throws IOException {
    shrink();
    long size = Files.size(jar);

    ShrinkJar.shrink(jar, own, size, List.of());
    assertThatThrownBy(() -> ShrinkJar.shrink(jar, own, size - 1, List.of()))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining(size + " bytes (expected: at most " + (size - 1) + ")")
        .hasMessageContaining("software.amazon.awssdk.services.toy");
  }
}
