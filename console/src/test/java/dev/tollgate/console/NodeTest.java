package dev.tollgate.console;

import dev.tollgate.client.js.NodeCases;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The tests of the pages' logic in the directory {@code test}, each reported as its own. */
class NodeTest {
  private static final int AT_LEAST = 30;

  @TestFactory
  Stream<DynamicTest> tests_in_javascript() throws Exception {
    try (Stream<Path> files = Files.list(Path.of("test"))) {
      List<String> tests =
          files.map(Path::toString).filter(name -> name.endsWith(".test.js")).sorted().toList();
      return NodeCases.of(Map.of(), AT_LEAST, tests);
    }
  }
}
