package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
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

/** The program of {@code docs/how-to/connect-from-java.md}. */
class DocumentedProgramTest {
  @Test
  void the_documented_program_compiles_with_the_class_path_that_its_page_names(
      @TempDir Path directory) throws IOException {
    Matcher block =
        Pattern.compile("```java\n((?:(?!```).)*TollgateSocket\\.builder.*?)```", Pattern.DOTALL)
            .matcher(
                Files.readString(Path.of("..", "..", "docs", "how-to", "connect-from-java.md")));
    assertThat(block.find()).isTrue();
    Path program = directory.resolve("Hello.java");
    Files.writeString(program, block.group(1));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter errors = new StringWriter();

    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      String classPath =
          Path.of("target", "classes")
              + File.pathSeparator
              + Files.readString(Path.of("target", "classpath"));
      boolean compiled =
          compiler
              .getTask(
                  errors,
                  files,
                  null,
                  List.of("-cp", classPath, "-d", directory.toString()),
                  null,
                  files.getJavaFileObjects(program))
              .call();

      assertThat(compiled).as("%s", errors).isTrue();
    }
  }
}
