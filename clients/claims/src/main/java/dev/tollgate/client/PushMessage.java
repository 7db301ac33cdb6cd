package dev.tollgate.client;

import dev.tollgate.core.InvalidValue;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import software.amazon.awssdk.thirdparty.jackson.core.JsonFactory;
import software.amazon.awssdk.thirdparty.jackson.core.JsonParser;

/**
 * A message for a {@link PushClient}.
 *
 * @param json one JSON value; it arrives byte for byte. The frame may have 128 KB
 * @param id names the push: 1 to 64 letters, digits, {@code _} and {@code -}. A push with an id can
 *     be repeated for 24 hours, and no socket gets it again. Empty: each request is a push of its
 *     own
 */
public record PushMessage(String json, Optional<String> id) {
  private static final JsonFactory JSON = new JsonFactory();

  /**
   * Checks the message.
   *
   * @throws IllegalArgumentException if {@code json} is not exactly one JSON value, or has half of
   *     a surrogate pair without an escape
   */
  public PushMessage {
    InvalidValue.unless(json != null && isJson(json), "json", json, "exactly one JSON value");
    // UTF-8 has no bytes for it; the request would have a question mark instead.
    InvalidValue.unless(
        StandardCharsets.UTF_8.newEncoder().canEncode(json),
        "json",
        "half of a surrogate pair",
        "it as an escape such as \\ud83d");
  }

  /** A message whose push has no id. */
  public static PushMessage of(String json) {
    return new PushMessage(json, Optional.empty());
  }

  /** This message in a push that may be repeated. */
  public PushMessage withId(String own) {
    return new PushMessage(json, Optional.of(own));
  }

  /** Anything else could add members to the request, such as another session. */
  private static boolean isJson(String text) {
    try (JsonParser parser = JSON.createParser(text)) {
      if (parser.nextToken() == null) {
        return false;
      }
      parser.skipChildren();
      return parser.nextToken() == null;
    } catch (IOException malformed) {
      return false;
    }
  }
}
