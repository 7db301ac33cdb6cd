package dev.tollgate.console;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Something that is served as it is.
 *
 * @param contentType its media type
 * @param body its text
 * @param etag tells this text from any other
 */
record Page(String contentType, String body, String etag) {

  static Page of(String contentType, String body) {
    return new Page(contentType, body, etagOf(body));
  }

  /** A file that was packed beside this class. */
  static Page ofFile(String name) {
    try (InputStream in = Page.class.getResourceAsStream("/pages/" + name)) {
      if (in == null) {
        throw new IllegalStateException(name + ": not among the pages");
      }
      return of(contentType(name), new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String contentType(String name) {
    return switch (name.substring(name.lastIndexOf('.') + 1)) {
      case "html" -> "text/html;charset=utf-8";
      case "css" -> "text/css;charset=utf-8";
      case "js" -> "text/javascript;charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> throw new IllegalArgumentException(name + " (expected: html, css, js or svg)");
    };
  }

  private static String etagOf(String body) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(body.getBytes(StandardCharsets.UTF_8));
      return '"' + HexFormat.of().formatHex(digest, 0, 16) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
