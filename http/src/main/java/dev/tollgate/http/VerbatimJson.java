package dev.tollgate.http;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Messages in JSON, which keep the bytes that their sender wrote. */
public final class VerbatimJson {
  private static final int MAX_DEPTH = 1_000;

  /** The limits on a message's structure, in words. */
  public static final String CONSTRAINTS = "nested at most " + MAX_DEPTH + " deep";

  /**
   * Accepts any JSON that fits into a frame, however long its numbers and texts. It does not intern
   * field names, because clients choose them.
   */
  public static final JsonFactory FACTORY =
      JsonFactory.builder()
          .streamReadConstraints(
              StreamReadConstraints.builder()
                  .maxNestingDepth(MAX_DEPTH)
                  .maxNumberLength(Integer.MAX_VALUE)
                  .maxStringLength(Integer.MAX_VALUE)
                  .maxNameLength(Integer.MAX_VALUE)
                  .build())
          .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
          .build();

  private VerbatimJson() {}

  /** The source text of the parser's current value. The parser moves to the end of the value. */
  public static String slice(String text, JsonParser parser) throws IOException {
    int start = (int) parser.currentTokenLocation().getCharOffset();
    parser.skipChildren();
    parser.finishToken();
    return text.substring(start, (int) parser.currentLocation().getCharOffset());
  }

  /**
   * Whether a text is exactly one JSON value, without half of a surrogate pair: UTF-8 has no bytes
   * for it, so a frame would have a question mark instead.
   */
  public static boolean isJson(String text) {
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(text)) {
      return false;
    }
    try (JsonParser parser = FACTORY.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (JsonProcessingException malformed) {
      return false;
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
