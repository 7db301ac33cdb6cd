package dev.tollgate.client.js;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

/** The tests of the directory {@code test}, each reported as a test of its own. */
class NodeTest {
  private static final int HISTORIES = 60;
  private static final int AT_LEAST = 41;

  @TestFactory
  Stream<DynamicTest> tests_in_javascript() throws Exception {
    return NodeCases.of(
        Map.of("HISTORIES", Integer.toString(HISTORIES * Integer.getInteger("tests.times", 1))),
        AT_LEAST,
        List.of("test/histories.test.js", "test/node.test.js", "test/tollgate.test.js"));
  }
}
