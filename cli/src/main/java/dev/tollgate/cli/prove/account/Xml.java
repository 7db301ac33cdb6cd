package dev.tollgate.cli.prove.account;

import java.io.IOException;
import java.io.StringReader;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import javax.xml.XMLConstants;
import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;
import org.xml.sax.SAXException;

/** Reads answers of AWS's query protocol. */
final class Xml {
  private Xml() {}

  /** The text of the first element with a name; empty if there is none, or no XML. */
  static Optional<String> text(String document, String element) {
    return texts(document, element).stream().findFirst();
  }

  /** The texts of all elements with a name; none if it is no XML. */
  static List<String> texts(String document, String element) {
    try {
      DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
      parsers.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      var parser = parsers.newDocumentBuilder();
      // The default handler prints errors.
      parser.setErrorHandler(null);
      NodeList found =
          parser.parse(new InputSource(new StringReader(document))).getElementsByTagName(element);
      return IntStream.range(0, found.getLength())
          .mapToObj(i -> found.item(i).getTextContent())
          .toList();
    } catch (SAXException notXml) {
      return List.of();
    } catch (IOException | ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }
}
