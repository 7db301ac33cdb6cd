package dev.tollgate.client.js;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** The tests of the directory {@code test}, each reported as a test of its own. */
class NodeTest {
  private static final Path REPORT = Path.of("target/node-tests.xml");
  private static final int HISTORIES = 60;

  @TestFactory
  Stream<DynamicTest> tests_in_javascript() throws Exception {
    Files.deleteIfExists(REPORT);
    Node.Result run =
        Node.run(
            Map.of("HISTORIES", Integer.toString(HISTORIES * Integer.getInteger("tests.times", 1))),
            "--test",
            "--test-reporter=junit",
            "--test-reporter-destination=" + REPORT,
            "test/histories.test.js",
            "test/node.test.js",
            "test/tollgate.test.js");
    assertThat(REPORT).as(run.output()).exists();
    List<Element> cases = cases();
    assertThat(cases).as(run.output()).hasSizeGreaterThan(40);
    return Stream.concat(
        cases.stream()
            .map(each -> DynamicTest.dynamicTest(each.getAttribute("name"), () -> passed(each))),
        Stream.of(
            DynamicTest.dynamicTest(
                "node --test", () -> assertThat(run.status()).as(run.output()).isZero())));
  }

  private static List<Element> cases() throws Exception {
    NodeList found =
        DocumentBuilderFactory.newInstance()
            .newDocumentBuilder()
            .parse(REPORT.toFile())
            .getElementsByTagName("testcase");
    return IntStream.range(0, found.getLength()).mapToObj(i -> (Element) found.item(i)).toList();
  }

  private static void passed(Element test) {
    assertThat(test.getElementsByTagName("skipped").getLength()).as("skipped").isZero();
    NodeList failures = test.getElementsByTagName("failure");
    if (failures.getLength() > 0) {
      throw new AssertionError(failures.item(0).getTextContent());
    }
  }
}
