package dev.tollgate.local.engines;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HttpString;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** An answer of an embedded engine. */
record EngineAnswer(int status, Map<String, String> headers, String body) {
  static final String AMAZON_JSON = "application/x-amz-json-1.0";

  /** Headers that the endpoint sets itself, and the checksum of a body that may be changed. */
  private static final Set<String> DROPPED =
      Set.of("connection", "content-length", "date", "server", "transfer-encoding", "x-amz-crc32");

  /** A successful answer of the JSON protocol. */
  static EngineAnswer json(ObjectNode body) {
    return json(AMAZON_JSON, body);
  }

  static EngineAnswer json(String contentType, ObjectNode body) {
    return new EngineAnswer(200, Map.of("Content-Type", contentType), body.toString());
  }

  /** Sends the answer, with its body changed if the exchange demands it. */
  void send(HttpServerExchange exchange) {
    exchange.setStatusCode(status);
    headers.forEach(
        (name, value) -> {
          if (!DROPPED.contains(name.toLowerCase(Locale.ROOT))) {
            exchange.getResponseHeaders().put(HttpString.tryFromString(name), value);
          }
        });
    exchange.getResponseSender().send(succeeded() ? Call.changedAnswer(exchange, body) : body);
  }

  boolean succeeded() {
    return status == 200;
  }

  EngineAnswer withBody(String other) {
    return new EngineAnswer(status, headers, other);
  }
}
