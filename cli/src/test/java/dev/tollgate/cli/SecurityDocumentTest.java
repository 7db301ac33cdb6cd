package dev.tollgate.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Every protection that SECURITY.md lists names an existing test that attacks it. */
class SecurityDocumentTest {
  private static final Pattern TEST = Pattern.compile("`([A-Z]\\w*(?:Test|IT))`");

  private static List<String> lines() throws IOException {
    return Files.readAllLines(Path.of("../SECURITY.md"));
  }

  private static Set<String> named(String text) {
    return TEST.matcher(text)
        .results()
        .map((MatchResult found) -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static Set<String> classes() throws IOException {
    Set<String> classes = new TreeSet<>();
    try (Stream<Path> top = Files.list(Path.of(".."));
        Stream<Path> clients = Files.list(Path.of("../clients"))) {
      for (Path tests :
          Stream.concat(top, clients).map(module -> module.resolve("src/test/java")).toList()) {
        if (Files.isDirectory(tests)) {
          try (Stream<Path> files = Files.walk(tests)) {
            files
                .map(file -> file.getFileName().toString())
                .filter(name -> name.endsWith(".java"))
                .forEach(name -> classes.add(name.replace(".java", "")));
          }
        }
      }
    }
    return classes;
  }

  @Test
  void each_named_test_exists() throws IOException {
    Set<String> missing = named(String.join("\n", lines()));
    assertThat(missing).hasSizeGreaterThan(10);
    missing.removeAll(classes());
    assertThat(missing).isEmpty();
  }

  @Test
  void each_protection_names_a_test() throws IOException {
    List<String> protections =
        lines().stream()
            .takeWhile(line -> !line.startsWith("## What a stranger can make you pay"))
            .filter(line -> line.startsWith("| ") && !line.startsWith("| what |"))
            .filter(line -> !line.startsWith("| ---"))
            .toList();
    assertThat(protections)
        .hasSizeGreaterThan(10)
        .allSatisfy(line -> assertThat(named(line)).isNotEmpty());
  }
}
