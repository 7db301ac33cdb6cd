package dev.tollgate.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The documented programs and fragments that use the client compile. */
class DocumentedSnippetsTest {
  private static final Pattern SNIPPET = Pattern.compile("```java\n(.*?)```", Pattern.DOTALL);

  @ParameterizedTest
  @ValueSource(
      strings = {
        "README.md",
        "docs/how-to/add-to-an-existing-api.md",
        "docs/how-to/claim-tokens.md",
        "docs/how-to/push.md"
      })
  void snippets_compile(String page, @TempDir Path directory) throws IOException {
    List<String> snippets =
        SNIPPET
            .matcher(Files.readString(Path.of("../..").resolve(page)))
            .results()
            .map(found -> found.group(1))
            .toList();

    assertThat(snippets).isNotEmpty();
    for (String snippet : snippets) {
      boolean isProgram = snippet.startsWith("import ");
      Path file =
          Files.writeString(
              directory.resolve(isProgram ? "SendEmail.java" : "Fragment.java"),
              isProgram ? snippet : program(snippet));
      assertThat(errors(file, directory)).as(snippet).isEmpty();
    }
  }

  private static String program(String fragment) {
    return """
        import dev.tollgate.client.*;
        import java.time.*;
        import java.util.*;
        class Fragment {
          Object run(
              TollgateClient tollgate,
              TokenBucket bucket,
              String userId,
              String tenantId,
              String sessionId,
              String messageId)
              throws Exception {
        %s
            return "";
          }
        }
        """
        .formatted(fragment);
  }

  private static String errors(Path file, Path directory) throws IOException {
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter errors = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of(
              "-proc:none",
              "-cp",
              System.getProperty("java.class.path"),
              "-d",
              directory.toString());
      boolean compiled =
          compiler
              .getTask(errors, files, null, options, null, files.getJavaFileObjects(file))
              .call();
      return compiled ? "" : errors.toString();
    }
  }
}
