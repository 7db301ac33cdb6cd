package dev.tollgate.cli.verify;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
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

  private JunitXml() {}

  /** Writes a report into a file. */
  public static void write(Report report, Path file) {
    try (Writer out = Files.newBufferedWriter(file)) {
      XMLStreamWriter xml = XMLOutputFactory.newDefaultFactory().createXMLStreamWriter(out);
      xml.writeStartDocument("UTF-8", "1.0");
      Map<String, String> totals = new TreeMap<>();
      totals.put("name", SUITE);
      totals.put("tests", String.valueOf(report.results().size()));
      totals.put("failures", String.valueOf(report.count(Result.Failed.class)));
      totals.put("errors", "0");
      totals.put("skipped", String.valueOf(report.count(Result.Skipped.class)));
      totals.put("time", String.valueOf(Report.seconds(report.time())));
      start(xml, "testsuite", totals);
      for (Result result : report.results()) {
        write(xml, result);
      }
      xml.writeEndElement();
      xml.writeEndDocument();
      xml.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (XMLStreamException e) {
      throw new UncheckedIOException(new IOException(e));
    }
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
    } else if (result instanceof Result.Skipped skipped) {
      start(xml, "skipped", Map.of("message", legal(skipped.reason())));
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
