package dev.tollgate.console;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import java.util.HexFormat;
import java.util.zip.GZIPOutputStream;

/**
 * Something that is served as it is.
 *
 * @param contentType its media type
 * @param plain its text
 * @param gzipped its text, compressed
 */
record Page(String contentType, Form plain, Form gzipped) {

  /**
   * A form in which a page is sent.
   *
   * @param body what a function answers with: a text, or Base64 of bytes
   * @param isBase64 which of the two
   * @param etag tells this form of this text from any other
   */
  record Form(String body, boolean isBase64, String etag) {}

  static Page of(String contentType, String text) {
    String digest = digest(text);
    return new Page(
        contentType,
        new Form(text, false, '"' + digest + '"'),
        new Form(Base64.getEncoder().encodeToString(gzip(text)), true, '"' + digest + "-gzip\""));
  }

  private static byte[] gzip(String text) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (GZIPOutputStream out = new GZIPOutputStream(bytes)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
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

  private static String digest(String text) {
    try {
      byte[] digest =
          MessageDigest.getInstance("SHA-256").digest(text.getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(digest, 0, 16);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }
}
