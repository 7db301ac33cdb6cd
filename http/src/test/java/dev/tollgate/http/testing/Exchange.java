package dev.tollgate.http.testing;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPResponse;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * A request and its response.
 *
 * @param target path and query, encoded, from the root of the API
 * @param requestHeaders by lower-case name
 * @param headers the headers of the response by lower-case name
 */
public record Exchange(
    String method,
    URI target,
    Map<String, String> requestHeaders,
    String requestBody,
    int status,
    Map<String, String> headers,
    String body) {
  /** Copies the headers. */
  public Exchange {
    requestHeaders = lowerCase(requestHeaders);
    headers = lowerCase(headers);
  }

  private static Map<String, String> lowerCase(Map<String, String> headers) {
    Map<String, String> copy = new TreeMap<>();
    headers.forEach((name, value) -> copy.put(name.toLowerCase(Locale.ROOT), value));
    return copy;
  }

  /**
   * The exchange of an event and a function's response.
   *
   * @return empty if the gateway would not pass such a request to the function
   */
  public static Optional<Exchange> of(
      APIGatewayV2HTTPEvent event, APIGatewayV2HTTPResponse response) {
    Map<String, String> parts = orNone(event.getPathParameters());
    if (parts.containsValue("")) {
      return Optional.empty();
    }
    String[] route = event.getRouteKey().split(" ", 2);
    String path = route[1]; // API Gateway decodes parameters of a path twice
    for (Map.Entry<String, String> part : parts.entrySet()) {
      path = path.replace("{" + part.getKey() + "}", encoded(encoded(part.getValue())));
    }
    List<String> query = new ArrayList<>();
    orNone(event.getQueryStringParameters())
        .forEach((name, value) -> query.add(encoded(name) + "=" + encoded(value)));
    return Optional.of(
        new Exchange(
            route[0],
            URI.create(path + (query.isEmpty() ? "" : "?" + String.join("&", query))),
            orNone(event.getHeaders()),
            event.getIsBase64Encoded() ? decoded(event.getBody()) : body(event),
            response.getStatusCode(),
            response.getHeaders(),
            response.getBody()));
  }

  private static String body(APIGatewayV2HTTPEvent event) {
    return Objects.requireNonNullElse(event.getBody(), "");
  }

  private static String decoded(String body) {
    return new String(Base64.getMimeDecoder().decode(body), StandardCharsets.UTF_8);
  }

  private static Map<String, String> orNone(@Nullable Map<String, String> map) {
    return Objects.requireNonNullElse(map, Map.of());
  }

  private static String encoded(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  @Override
  public String toString() {
    return method + " " + target + " " + requestBody + " → " + status + " " + headers + " " + body;
  }
}
