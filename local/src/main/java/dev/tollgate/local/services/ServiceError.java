package dev.tollgate.local.services;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.util.UUID;

/** An error answer of an AWS API, in the form that the service's protocol gives it. */
record ServiceError(int status, String type, String message) {
  private static final HttpString ERROR_TYPE = HttpString.tryFromString("x-amzn-ErrorType");
  private static final HttpString QUERY_ERROR = HttpString.tryFromString("x-amzn-query-error");

  /**
   * Answers by the JSON protocols: the type in {@code __type} and in a header.
   *
   * @see <a href="https://smithy.io/2.0/aws/protocols/aws-json-1_0-protocol.html">AWS JSON 1.0
   *     protocol</a>
   */
  void sendJson(HttpServerExchange exchange) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.0");
    exchange.getResponseHeaders().put(ERROR_TYPE, type.substring(type.indexOf('#') + 1));
    exchange
        .getResponseSender()
        .send(
            JsonNodeFactory.instance
                .objectNode()
                .put("__type", type)
                .put("message", message)
                .toString());
  }

  /**
   * Answers by the JSON protocol of a service that once spoke the query protocol, with its old
   * error code in a header.
   *
   * @see <a href="https://smithy.io/2.0/aws/protocols/aws-query-protocol.html">AWS query protocol,
   *     compatibility</a>
   */
  void sendJson(HttpServerExchange exchange, String queryCode) {
    exchange.getResponseHeaders().put(QUERY_ERROR, queryCode + ";Sender");
    sendJson(exchange);
  }

  /** Answers by the query protocol: XML. */
  void sendXml(HttpServerExchange exchange) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "text/xml");
    exchange
        .getResponseSender()
        .send(
            "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>"
                .formatted(type, Xml.escape(message), UUID.randomUUID()));
  }
}
