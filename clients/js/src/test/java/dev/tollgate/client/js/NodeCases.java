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
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** Runs tests with {@code node --test} and reports each as a test of its own. */
public final class NodeCases {
  private static final Path REPORT = Path.of("target/node-tests.xml");

  private NodeCases() {}

  /**
   * Runs the tests of files, named relative to the module's directory.
   *
   * @param environment variables for the tests
   * @param atLeast the least number of tests in the files
   */
  public static Stream<DynamicTest> of(
      Map<String, String> environment, int atLeast, List<String> files) throws Exception {
    Files.deleteIfExists(REPORT);
    Node.Result run =
        Node.run(
            environment,
            Stream.concat(
                    Stream.of(
                        "--test", "--test-reporter=junit", "--test-reporter-destination=" + REPORT),
                    files.stream())
                .toArray(String[]::new));
    assertThat(REPORT).as(run.output()).exists();
    List<Element> cases = cases();
    assertThat(cases).as(run.output()).hasSizeGreaterThanOrEqualTo(atLeast);
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
