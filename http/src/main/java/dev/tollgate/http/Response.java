package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * What a request is answered with.
 *
 * @param status the HTTP status
 * @param headers by lower-case name
 * @param document the body, as JSON; empty for none
 */
public record Response(int status, Map<String, String> headers, Map<String, Object> document) {
  /** Copies the maps. */
  public Response {
    headers = Collections.unmodifiableMap(new TreeMap<>(headers));
    document = Collections.unmodifiableMap(new LinkedHashMap<>(document));
  }

  /** A document of maps, lists, strings, numbers and booleans. */
  public static Response json(int status, Map<String, Object> document) {
    return new Response(status, Map.of("content-type", "application/json"), document);
  }

  /**
   * A response whose document was written as a text before, by {@link #text}.
   *
   * @throws InvalidValue if it is no JSON object
   */
  public static Response written(int status, Map<String, String> headers, String text) {
    Map<String, Object> document = new LinkedHashMap<>();
    if (!text.isEmpty()) {
      Json.read(text).properties().forEach(field -> document.put(field.getKey(), field.getValue()));
    }
    return new Response(status, headers, document);
  }

  /** The body as it is sent. */
  public String text() {
    return document.isEmpty() ? "" : Json.write(document);
  }

  /** No body: 204. */
  public static Response noContent() {
    return new Response(204, Map.of(), Map.of());
  }

  /** This response with one more header, or another value of it. */
  public Response with(String header, String value) {
    Map<String, String> more = new TreeMap<>(headers);
    more.put(header, value);
    return new Response(status, more, document);
  }
}
