package dev.tollgate.cli.verify;

import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import javax.xml.stream.XMLOutputFactory;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamWriter;

/**
 * A report as JUnit XML, which CI servers display (the format of Maven Surefire, <a
 * href="https://maven.apache.org/surefire/maven-surefire-plugin/xsd/surefire-test-report.xsd">
 * surefire-test-report.xsd</a>).
 */
public final class JunitXml {
  private static final String SUITE = "tollgate.verify";
  private static final String RUN =
      "The run finishes, skips no check, meets only documented answers, and removes everything.";

  private JunitXml() {}

  /**
   * Writes a report into a file. It contains a failure exactly if {@link Report#passed} is false.
   *
   * @throws IOException if the file cannot be written
   */
  public static void write(Report report, Path file) throws IOException {
    Optional<String> problem = problemOfRun(report);
    long failures = report.count(Result.Failed.class) + (problem.isPresent() ? 1 : 0);
    write(
        file,
        report.results().size() + 1,
        failures,
        0,
        report.results().stream().filter(each -> Report.reason(each).isPresent()).count(),
        Report.seconds(report.time()),
        xml -> {
          for (Result result : report.results()) {
            write(xml, result);
          }
          writeRun(xml, "failure", problem);
        });
  }

  /**
   * Writes the report of a run that has no results, for example because it has just begun.
   *
   * @throws IOException if the file cannot be written
   */
  public static void writeUnfinished(String reason, Path file) throws IOException {
    write(file, 1, 0, 1, 0, 0, xml -> writeRun(xml, "error", Optional.of(reason)));
  }

  /** What makes a run fail although no check failed. */
  private static Optional<String> problemOfRun(Report report) {
    List<String> problems = new ArrayList<>(report.problems());
    long skipped = report.count(Result.Skipped.class);
    if (skipped > 0) {
      problems.add("Skipped checks: " + skipped);
    }
    return problems.isEmpty() ? Optional.empty() : Optional.of(String.join("\n", problems));
  }

  private interface Cases {
    void write(XMLStreamWriter xml) throws XMLStreamException;
  }

  private static void write(
      Path file, long tests, long failures, long errors, long skipped, double seconds, Cases cases)
      throws IOException {
    try (Writer out = Files.newBufferedWriter(file)) {
      XMLStreamWriter xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(out);
      xml.writeStartDocument("UTF-8", "1.0");
      start(
          xml,
          "testsuite",
          Map.of(
              "name", SUITE,
              "tests", String.valueOf(tests),
              "failures", String.valueOf(failures),
              "errors", String.valueOf(errors),
              "skipped", String.valueOf(skipped),
              "time", String.valueOf(seconds)));
      cases.write(xml);
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.close();
    } catch (XMLStreamException e) {
      throw new IOException(e);
    }
  }

  private static void writeRun(XMLStreamWriter xml, String element, Optional<String> problem)
      throws XMLStreamException {
    start(xml, "testcase", Map.of("classname", SUITE, "name", "run", "time", "0.0"));
    if (problem.isPresent()) {
      start(xml, element, Map.of("type", "run", "message", RUN));
      xml.writeCharacters(legal(problem.get()) + "\n");
      xml.writeEndElement();
    }
    xml.writeEndElement();
  }

  private static void write(XMLStreamWriter xml, Result result) throws XMLStreamException {
    start(
        xml,
        "testcase",
        Map.of(
            "classname", SUITE,
            "name", result.check().name(),
            "time", String.valueOf(Report.seconds(result.evidence().time()))));
    if (result instanceof Result.Failed failed) {
      start(
          xml,
          "failure",
          Map.of("type", "broken promise", "message", legal(result.check().promise())));
      xml.writeCharacters(
          legal("expected " + failed.expected() + "\nseen     " + failed.seen() + "\n"));
      xml.writeEndElement();
    }
    Optional<String> reason = Report.reason(result);
    if (reason.isPresent()) {
      start(xml, "skipped", Map.of("message", legal(reason.get())));
      xml.writeEndElement();
    }
    StringBuilder evidence = new StringBuilder(result.check().promise()).append('\n');
    result.evidence().steps().forEach(step -> evidence.append("done: ").append(step).append('\n'));
    result
        .evidence()
        .figures()
        .forEach((name, value) -> evidence.append(name + ": " + value).append('\n'));
    xml.writeStartElement("system-out");
    xml.writeCharacters(legal(evidence.toString()));
    xml.writeEndElement();
    xml.writeEndElement();
  }

  private static void start(XMLStreamWriter xml, String element, Map<String, String> attributes)
      throws XMLStreamException {
    xml.writeStartElement(element);
    for (Map.Entry<String, String> attribute : new TreeMap<>(attributes).entrySet()) {
      xml.writeAttribute(attribute.getKey(), attribute.getValue());
    }
  }

  /** Replaces characters that XML 1.0 does not allow. */
  private static String legal(String text) {
    return text.replaceAll(
        "[^\\x09\\x0A\\x0D\\x20-\\uD7FF\\uE000-\\uFFFD\\x{10000}-\\x{10FFFF}]", "?");
  }
}
