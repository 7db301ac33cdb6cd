package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.util.Optional;
import java.util.UUID;

/**
 * An error of an AWS API.
 *
 * @param type the error's type, with its name space if it has one
 * @param queryCode the code of the query protocol, if that differs from the type
 */
public record ServiceError(int status, String type, Optional<String> queryCode, String message) {
  private static final HttpString ERROR_TYPE = HttpString.tryFromString("x-amzn-ErrorType");
  private static final HttpString QUERY_ERROR = HttpString.tryFromString("x-amzn-query-error");

  /** An error with the same name in all protocols. */
  public ServiceError(int status, String type, String message) {
    this(status, type, Optional.empty(), message);
  }

  /** An error of a service that once spoke only the query protocol, with its old code. */
  public ServiceError(int status, String type, String queryCode, String message) {
    this(status, type, Optional.of(queryCode), message);
  }

  /** Answers by the protocol of the request. */
  public void send(HttpServerExchange exchange) {
    if (!QueryProtocol.speaks(exchange)) {
      sendJson(exchange);
    } else if (QueryProtocol.wantsJson(exchange)) {
      ObjectNode answer = Json.object();
      answer.putObject("Error").put("Code", code()).put("Message", message).put("Type", "Sender");
      answer.put("RequestId", UUID.randomUUID().toString());
      send(exchange, "application/json", answer.toString());
    } else {
      send(
          exchange,
          "text/xml",
          "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>"
              .formatted(code(), QueryProtocol.escape(message), UUID.randomUUID()));
    }
  }

  /**
   * Answers by the JSON protocols: the type is in {@code __type} and in a header, an old code in
   * another.
   *
   * @see <a href="https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html">AWS JSON 1.0
   *     protocol</a>
   * @see <a href="https://smithy.io/2.0/aws/protocols/aws-query-protocol.html">AWS query protocol,
   *     compatibility</a>
   */
  public void sendJson(HttpServerExchange exchange) {
    exchange.getResponseHeaders().put(ERROR_TYPE, name());
    queryCode.ifPresent(code -> exchange.getResponseHeaders().put(QUERY_ERROR, code + ";Sender"));
    send(
        exchange,
        "application/x-amz-json-1.0",
        Json.object().put("__type", type).put("message", message).toString());
  }

  private void send(HttpServerExchange exchange, String contentType, String body) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, contentType);
    exchange.getResponseSender().send(body);
  }

  private String code() {
    return queryCode.orElse(name());
  }

  private String name() {
    return type.substring(type.indexOf('#') + 1);
  }
}
