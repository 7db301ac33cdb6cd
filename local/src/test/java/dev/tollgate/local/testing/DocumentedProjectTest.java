package dev.tollgate.local.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.lang.reflect.Constructor;
import java.lang.reflect.Method;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.spi.ToolProvider;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The project that {@code README.md} shows: it names the current version, and its test passes.
 * {@code dist/test-packages} runs it with Maven.
 */
class DocumentedProjectTest {
  private static final Pattern FILE =
      Pattern.compile("^`(\\S+)`:\n\n```\\w+\n(.*?)^```$", Pattern.DOTALL | Pattern.MULTILINE);

  @TempDir Path project;

  @BeforeEach
  void write_the_shown_files() throws IOException {
    for (MatchResult file :
        FILE.matcher(Files.readString(Path.of("README.md"))).results().toList()) {
      Path path = project.resolve(file.group(1));
      Files.createDirectories(path.getParent());
      Files.writeString(path, file.group(2));
    }
  }

  @Test
  void shown_pom_names_the_current_version() throws IOException {
    Matcher parent =
        Pattern.compile("<artifactId>tollgate</artifactId>\\s*(<version>.*</version>)")
            .matcher(Files.readString(Path.of("pom.xml")));

    assertThat(parent.find()).isTrue();
    assertThat(project.resolve("pom.xml"))
        .content()
        .containsPattern("<artifactId>tollgate-local</artifactId>\\s*" + parent.group(1));
  }

  @Test
  void shown_test_passes() throws Exception {
    Path classes = project.resolve("target");
    StringWriter errors = new StringWriter();
    PrintWriter writer = new PrintWriter(errors);
    Path source = project.resolve("src/test/java/com/example/ReminderTest.java");
    String classPath = System.getProperty("java.class.path");
    int exitCode =
        ToolProvider.findFirst("javac")
            .orElseThrow()
            .run(writer, writer, "-proc:none", "-cp", classPath, "-d", "" + classes, "" + source);
    assertThat(exitCode).as("%s", errors).isZero();

    try (URLClassLoader loader = new URLClassLoader(new URL[] {classes.toUri().toURL()});
        TestCloud cloud = TestCloud.start(project.resolve("src/test/resources/stack"))) {
      Class<?> shown = loader.loadClass("com.example.ReminderTest");
      Constructor<?> constructor = shown.getDeclaredConstructor();
      constructor.setAccessible(true);
      Method test =
          shown.getDeclaredMethod(
              "reminder_arrives_within_a_day", TestCloud.class, URI.class, String.class);
      test.setAccessible(true);
      test.invoke(
          constructor.newInstance(),
          cloud,
          cloud.cloud().endpoint(),
          cloud.cloud().outputs().get("QueueUrl"));
    }
  }
}
