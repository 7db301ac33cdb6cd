package dev.tollgate.local.services;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.AttachmentKey;
import io.undertow.util.HeaderMap;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import io.undertow.util.SameThreadExecutor;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;

/**
 * Hands calls on to an engine that speaks the service's own protocol. No thread waits for the
 * answer.
 */
final class Forwarder {
  /** What is to be made of a good answer at last, if a call bears it. */
  static final AttachmentKey<UnaryOperator<String>> ANSWER =
      AttachmentKey.create(UnaryOperator.class);

  // One for all: the JDK's client of Java 17 cannot be closed, so a client for each engine would
  // leave threads behind.
  private static final HttpClient CLIENT =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  private static final Set<String> NOT_FORWARDED =
      Set.of(
          "connection",
          "content-length",
          "date",
          "expect",
          "host",
          "server",
          "transfer-encoding",
          "upgrade");

  private final URI engine;
  private final EngineKey key;
  private final Consumer<Call> beforeAnswer;

  Forwarder(URI engine, EngineKey key) {
    this(engine, key, call -> {});
  }

  /**
   * A forwarder that does something when the engine has answered and the caller has not yet been.
   */
  Forwarder(URI engine, EngineKey key, Consumer<Call> beforeAnswer) {
    this.engine = engine;
    this.key = key;
    this.beforeAnswer = beforeAnswer;
  }

  /** Sends the call as it came, and the answer as it comes. */
  void forward(HttpServerExchange exchange) {
    forward(exchange, Call.of(exchange).body(), answer -> answer);
  }

  /**
   * Sends another body in the call's place, and answers with what the operator makes of a good
   * answer's body.
   */
  void forward(HttpServerExchange exchange, String body, UnaryOperator<String> answer) {
    HttpRequest request = request(exchange, body);
    exchange.dispatch(
        SameThreadExecutor.INSTANCE,
        () -> {
          var unused =
              CLIENT
                  .sendAsync(request, BodyHandlers.ofString())
                  .thenApply(
                      response -> {
                        beforeAnswer.accept(Call.of(exchange));
                        return response;
                      })
                  .whenComplete(
                      (response, failure) -> {
                        if (response == null) {
                          new ServiceError(500, "InternalFailure", String.valueOf(failure))
                              .sendJson(exchange);
                        } else {
                          send(exchange, response, answer);
                        }
                      });
        });
  }

  /** Asks the engine with other bodies on behalf of the call, and waits. */
  HttpResponse<String> ask(HttpServerExchange exchange, String operation, String body)
      throws IOException, InterruptedException {
    HttpRequest request =
        key.addTo(HttpRequest.newBuilder(engine))
            .header("Authorization", exchange.getRequestHeaders().getFirst(Headers.AUTHORIZATION))
            .header("Content-Type", "application/x-amz-json-1.0")
            .header("X-Amz-Target", operation)
            .POST(BodyPublishers.ofString(body))
            .build();
    return CLIENT.send(request, BodyHandlers.ofString());
  }

  private HttpRequest request(HttpServerExchange exchange, String body) {
    String query = exchange.getQueryString();
    HttpRequest.Builder request =
        HttpRequest.newBuilder(
                engine.resolve(exchange.getRequestPath() + (query.isEmpty() ? "" : "?" + query)))
            .method(exchange.getRequestMethod().toString(), BodyPublishers.ofString(body));
    for (HeaderValues header : exchange.getRequestHeaders()) {
      if (forwarded(header.getHeaderName().toString())) {
        header.forEach(value -> request.header(header.getHeaderName().toString(), value));
      }
    }
    return key.addTo(request).build();
  }

  private static void send(
      HttpServerExchange exchange, HttpResponse<String> response, UnaryOperator<String> answer) {
    exchange.setStatusCode(response.statusCode());
    HeaderMap headers = exchange.getResponseHeaders();
    response
        .headers()
        .map()
        .forEach(
            (name, values) -> {
              // The checksum is that of the engine's body, which may have been changed.
              if (forwarded(name) && !name.equalsIgnoreCase("x-amz-crc32")) {
                headers.putAll(HttpString.tryFromString(name), values);
              }
            });
    UnaryOperator<String> last =
        Optional.ofNullable(exchange.getAttachment(ANSWER)).orElse(UnaryOperator.identity());
    exchange
        .getResponseSender()
        .send(
            response.statusCode() == 200
                ? last.apply(answer.apply(response.body()))
                : response.body());
  }

  private static boolean forwarded(String header) {
    return !NOT_FORWARDED.contains(header.toLowerCase(Locale.ROOT));
  }
}
