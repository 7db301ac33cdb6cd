package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * The response to a request.
 *
 * @param status the HTTP status
 * @param headers the values by lower-case name
 * @param document the JSON object in the body; empty for no body
 */
public record Response(int status, Map<String, String> headers, Map<String, Object> document) {
  /** Copies the maps. */
  public Response {
    headers = Collections.unmodifiableMap(new TreeMap<>(headers));
    document = Collections.unmodifiableMap(new LinkedHashMap<>(document));
  }

  /** A response with a document of maps, lists, strings, numbers and booleans. */
  public static Response json(int status, Map<String, Object> document) {
    return new Response(status, Map.of("content-type", "application/json"), document);
  }

  /**
   * A response from its parts, with a body that {@link #text} wrote.
   *
   * @throws InvalidValue if the body is neither empty nor a JSON object
   */
  public static Response parse(int status, Map<String, String> headers, String text) {
    Map<String, Object> document = new LinkedHashMap<>();
    if (!text.isEmpty()) {
      Json.read(text).properties().forEach(field -> document.put(field.getKey(), field.getValue()));
    }
    return new Response(status, headers, document);
  }

  /** The body as JSON; the empty text for no body. */
  public String text() {
    return document.isEmpty() ? "" : Json.write(document);
  }

  /** Status 204, without a body. */
  public static Response noContent() {
    return new Response(204, Map.of(), Map.of());
  }

  /** This response with a header added or replaced. */
  public Response with(String header, String value) {
    Map<String, String> more = new TreeMap<>(headers);
    more.put(header, value);
    return new Response(status, more, document);
  }
}
