package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CancellationException;

/** Sends requests and reads JSON responses. */
final class Http {
  static final ObjectMapper JSON = new ObjectMapper();

  /** Longer than API Gateway waits for a function. */
  static final Duration ANSWER_TIME = Duration.ofSeconds(35);

  private final HttpClient client =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  WebSocket.Builder webSocket() {
    return client.newWebSocketBuilder().connectTimeout(ANSWER_TIME);
  }

  JsonNode get(URI uri) {
    return send("GET", uri, "");
  }

  /**
   * Sends a request.
   *
   * @param body JSON; empty for none
   * @throws IllegalStateException if the status is not 2xx
   * @throws UncheckedIOException if there is no response
   */
  JsonNode send(String method, URI uri, String body) {
    return send(method, uri, body, Map.of());
  }

  /** Like {@link #send(String, URI, String)}, with additional headers. */
  JsonNode send(String method, URI uri, String body, Map<String, String> headers) {
    HttpResponse<String> response = answer(method, uri, body, headers);
    if (response.statusCode() / 100 != 2) {
      throw new IllegalStateException(
          "%s %s: %d %s (expected: 2xx)"
              .formatted(method, uri, response.statusCode(), response.body()));
    }
    return read(response.body());
  }

  static JsonNode read(String body) {
    try {
      return JSON.readTree(body);
    } catch (IOException e) {
      throw new UncheckedIOException(body + ": " + e, e);
    }
  }

  /** Deletes a resource; ignores failures. */
  void tryToDelete(URI uri) {
    try {
      var unused = answer("DELETE", uri, "", Map.of());
    } catch (UncheckedIOException e) {
      // The deployment may have stopped before the benchmark.
    }
  }

  /**
   * Sends a request and returns the response with any status.
   *
   * @throws UncheckedIOException if there is no response
   */
  HttpResponse<String> answer(String method, URI uri, String body, Map<String, String> headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(uri)
            .timeout(ANSWER_TIME)
            .method(
                method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
    if (!body.isEmpty()) {
      request.header("Content-Type", "application/json");
    }
    headers.forEach(request::setHeader);
    try {
      return client.send(request.build(), BodyHandlers.ofString());
    } catch (IOException e) {
      throw new UncheckedIOException(method + " " + uri + ": " + e, e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CancellationException(method + " " + uri + ": interrupted");
    }
  }
}
