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
import java.util.regex.Pattern;
import java.util.zip.GZIPOutputStream;

/**
 * A static file.
 *
 * @param contentType the media type
 * @param plain the file's text
 * @param gzipped the file's text, compressed
 */
record Page(String contentType, Form plain, Form gzipped) {
  /** The comments that have their lines to themselves. */
  private static final Pattern COMMENTS =
      Pattern.compile("^[ \\t]*(?://.*|/\\*(?s:.*?)\\*/)[ \\t]*$", Pattern.MULTILINE);

  /**
   * A representation of a page.
   *
   * @param body the body of the function's response: text, or bytes in Base64
   * @param isBase64 whether the body is Base64
   * @param etag identifies this representation of this text
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

  /** Reads a file from the jar. */
  static Page ofFile(String name) {
    return of(contentType(name), text(name));
  }

  /**
   * Reads a script or a style sheet of this project from the jar, without its comments, which are a
   * fifth of what a browser would load. Lines keep their numbers.
   */
  static Page ofSource(String name) {
    String text =
        COMMENTS
            .matcher(text(name))
            .replaceAll(comment -> "\n".repeat((int) comment.group().lines().count() - 1));
    return of(contentType(name), text);
  }

  private static String text(String name) {
    try (InputStream in = Page.class.getResourceAsStream("/pages/" + name)) {
      if (in == null) {
        throw new IllegalStateException(name + ": no such page in the jar");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String contentType(String name) {
    return switch (name.substring(name.lastIndexOf('.') + 1)) {
      case "html" -> "text/html;charset=utf-8";
      case "css" -> "text/css;charset=utf-8";
      case "js" -> "text/javascript;charset=utf-8";
      case "md" -> "text/plain;charset=utf-8";
      case "svg" -> "image/svg+xml";
      default -> throw new IllegalArgumentException(name + " (expected: html, css, js, md or svg)");
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
