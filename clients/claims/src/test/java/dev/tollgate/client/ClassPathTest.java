package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the class path of an application that depends on this module only. */
class ClassPathTest {
  private static final Path OWN = Path.of("target", "classes");

  private static List<String> entries() throws IOException {
    String paths = Files.readString(Path.of("target", "classpath"));
    return Stream.of(paths.strip().split(Pattern.quote(File.pathSeparator))).toList();
  }

  /** The name of an artifact, or of a module of this build. */
  private static String name(String entry) {
    return entry.replaceFirst(".*/([^/]+)/[^/]+/[^/]+", "$1");
  }

  @Test
  void class_path_contains_exactly_the_libraries_that_claims_need() throws IOException {
    assertThat(entries().stream().map(ClassPathTest::name))
        .containsExactlyInAnyOrder(
            "aws",
            "core",
            // SDK clients
            "dynamodb",
            "lambda",
            "sqs",
            "sts",
            "url-connection-client",
            // Dependencies of the SDK clients
            "annotations",
            "auth",
            "aws-core",
            "aws-json-protocol",
            "aws-query-protocol",
            "checksums",
            "checksums-spi",
            "endpoints-spi",
            "eventstream",
            "http-auth",
            "http-auth-aws",
            "http-auth-aws-eventstream",
            "http-auth-spi",
            "http-client-spi",
            "identity-spi",
            "json-utils",
            "jspecify",
            "metrics-spi",
            "profiles",
            "protocol-core",
            "reactive-streams",
            "regions",
            "retries",
            "retries-spi",
            "sdk-core",
            "slf4j-api",
            "third-party-jackson-core",
            "utils",
            "utils-lite");
  }

  @Test
  void claims_work_with_this_class_path() throws Exception {
    List<URL> urls =
        Stream.concat(Stream.of(OWN.toAbsolutePath().toString()), entries().stream())
            .map(ClassPathTest::url)
            .toList();
    try (ScriptedAws aws = new ScriptedAws();
        URLClassLoader application =
            new URLClassLoader(urls.toArray(URL[]::new), ClassLoader.getPlatformClassLoader())) {
      Class<?> builders = application.loadClass(TollgateClientBuilder.class.getName());
      Object builder =
          application.loadClass(TollgateClient.class.getName()).getMethod("builder").invoke(null);
      builders.getMethod("environment", Map.class).invoke(builder, aws.environment());
      try (AutoCloseable tollgate = (AutoCloseable) builders.getMethod("build").invoke(builder)) {
        Object bucket =
            application
                .loadClass(TollgateClient.class.getName())
                .getMethod("bucket", String.class, String.class)
                .invoke(tollgate, "acme", "send-email");

        Throwable answer = claim(application, bucket);

        assertThat(answer.getClass().getName()).isEqualTo(UnknownBucket.class.getName());
        assertThat(aws.operations())
            .containsExactlyInAnyOrder("AssumeRole", "ReceiveMessage", "GetItem", "GetItem");
      }
    }
  }

  private static Throwable claim(ClassLoader application, Object bucket) throws Exception {
    try {
      Object claim =
          application.loadClass(TokenBucket.class.getName()).getMethod("tryClaim").invoke(bucket);
      return new AssertionError(claim);
    } catch (InvocationTargetException failure) {
      return failure.getTargetException();
    }
  }

  private static URL url(String entry) {
    try {
      return Path.of(entry).toUri().toURL();
    } catch (MalformedURLException failure) {
      throw new IllegalArgumentException(failure);
    }
  }
}
