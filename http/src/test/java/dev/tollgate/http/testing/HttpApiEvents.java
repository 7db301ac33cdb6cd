package dev.tollgate.http.testing;

import com.amazonaws.services.lambda.runtime.events.APIGatewayV2HTTPEvent;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/**
 * Events as an HTTP API sends them, payload format 2.0: the documented example with the values of a
 * test.
 */
public final class HttpApiEvents {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(MapperFeature.ACCEPT_CASE_INSENSITIVE_PROPERTIES)
          .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
          .build();

  private HttpApiEvents() {}

  /** An event without a body and without parameters. */
  public static APIGatewayV2HTTPEvent of(String routeKey) {
    APIGatewayV2HTTPEvent event = recorded("http-api-event.json");
    event.setRouteKey(routeKey);
    event.setBody(null);
    event.getHeaders().remove("content-type");
    event.getHeaders().remove("content-length");
    return event;
  }

  /** An event with path parameters. */
  public static APIGatewayV2HTTPEvent of(String routeKey, Map<String, String> path) {
    APIGatewayV2HTTPEvent event = of(routeKey);
    event.setPathParameters(new HashMap<>(path));
    return event;
  }

  /** An event with path parameters and a JSON body. */
  public static APIGatewayV2HTTPEvent of(String routeKey, Map<String, String> path, String body) {
    APIGatewayV2HTTPEvent event = of(routeKey, path);
    event.getHeaders().put("content-type", "application/json");
    event.setBody(body);
    return event;
  }

  /** An event from a resource file next to this class. */
  public static APIGatewayV2HTTPEvent recorded(String file) {
    try (InputStream json =
        Objects.requireNonNull(HttpApiEvents.class.getResourceAsStream(file), file)) {
      return MAPPER.readValue(json, APIGatewayV2HTTPEvent.class);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
