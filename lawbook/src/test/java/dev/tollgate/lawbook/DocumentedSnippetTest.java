package dev.tollgate.lawbook;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The adapter in {@code docs/how-to/law-book.md} compiles. */
class DocumentedSnippetTest {
  @Test
  void documented_adapter_compiles(@TempDir Path directory) throws IOException {
    Matcher block =
        Pattern.compile("```java\n(.*?)```", Pattern.DOTALL)
            .matcher(Files.readString(Path.of("..", "docs", "how-to", "law-book.md")));
    assertThat(block.find()).isTrue();
    Path program =
        Files.writeString(
            directory.resolve("Adapter.java"),
            """
            import dev.tollgate.lawbook.*;
            import java.time.*;
            import java.util.*;
            class Adapter {
              record MyBucket(long tokens, Duration per, long capacity, InstantSource clock) {
                boolean tryAcquire() { return true; }
                Duration timeToNext() { return Duration.ZERO; }
              }
              void hold() {
            %s
              }
            }
            """
                .formatted(block.group(1)));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter errors = new StringWriter();

    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      List<String> options =
          List.of(
              "-proc:none",
              "-cp",
              Path.of("target", "classes").toString(),
              "-d",
              directory.toString());
      boolean compiled =
          compiler
              .getTask(errors, files, null, options, null, files.getJavaFileObjects(program))
              .call();

      assertThat(compiled).as("%s", errors).isTrue();
    }
  }
}
