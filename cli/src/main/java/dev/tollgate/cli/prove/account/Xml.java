package dev.tollgate.cli.prove.account;

import java.io.IOException;
import java.io.StringReader;
import java.util.Optional;
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
    try {
      DocumentBuilderFactory parsers = DocumentBuilderFactory.newInstance();
      parsers.setFeature(XMLConstants.FEATURE_SECURE_PROCESSING, true);
      parsers.setFeature("http://apache.org/xml/features/disallow-doctype-decl", true);
      var parser = parsers.newDocumentBuilder();
      // The default handler prints errors.
      parser.setErrorHandler(null);
      NodeList found =
          parser.parse(new InputSource(new StringReader(document))).getElementsByTagName(element);
      return found.getLength() == 0
          ? Optional.empty()
          : Optional.of(found.item(0).getTextContent());
    } catch (SAXException notXml) {
      return Optional.empty();
    } catch (IOException | ParserConfigurationException e) {
      throw new IllegalStateException(e);
    }
  }
}
