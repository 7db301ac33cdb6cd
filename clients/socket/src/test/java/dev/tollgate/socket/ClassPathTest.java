package dev.tollgate.socket;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Tests the class path of an application that depends on this module only. */
class ClassPathTest {
  @Test
  void class_path_contains_a_parser_and_nothing_else() throws IOException {
    String paths = Files.readString(Path.of("target", "classpath"));

    assertThat(Stream.of(paths.strip().split(Pattern.quote(File.pathSeparator))))
        .extracting(entry -> entry.replaceFirst(".*/([^/]+)/[^/]+/[^/]+", "$1"))
        .containsExactlyInAnyOrder("jackson-core", "jspecify");
  }
}
