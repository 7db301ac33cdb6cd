package dev.tollgate.bench.layout;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.importer.ClassFileImporter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The methods that ARCHITECTURE.md leads a reader through exist. */
class ArchitectureTest {
  private static final Pattern METHOD = Pattern.compile("`([A-Z]\\w+\\.[a-z]\\w+)`");

  @Test
  void methods_on_the_way_through_the_code_exist() throws IOException {
    String page = Files.readString(Path.of("../ARCHITECTURE.md"));
    int start = page.indexOf("## The way through the code");
    String section = page.substring(start, page.indexOf("\n## ", start + 1));
    Set<String> methods =
        new ClassFileImporter()
                .importPaths(
                    PackagesTest.modules().stream()
                        .map(module -> module.resolve("target/classes"))
                        .toList())
                .stream()
                .flatMap(type -> type.getMethods().stream())
                .map(method -> method.getOwner().getSimpleName() + "." + method.getName())
                .collect(Collectors.toSet());

    assertThat(METHOD.matcher(section).results().map(MatchResult::group))
        .hasSizeGreaterThan(30)
        .allSatisfy(name -> assertThat(methods).contains(name.replace("`", "")));
  }
}
