package dev.tollgate.local.endpoint;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.util.UUID;

/** An error of an AWS API: the answer to a request that is refused. */
public final class ApiException extends RuntimeException {
  private static final long serialVersionUID = 1L;
  private static final HttpString ERROR_TYPE = HttpString.tryFromString("x-amzn-ErrorType");
  private static final HttpString QUERY_ERROR = HttpString.tryFromString("x-amzn-query-error");

  private final int status;
  private final String type;
  private final String queryCode;

  /** An error with the same name in all protocols. */
  public ApiException(int status, String type, String message) {
    this(status, type, "", message);
  }

  /**
   * An error of a service that once spoke only the query protocol.
   *
   * @param type the name of the exception in the service model, with its name space if it has one
   * @param queryCode the code of the query protocol; empty if it is the type
   */
  public ApiException(int status, String type, String queryCode, String message) {
    super(message);
    this.status = status;
    this.type = type;
    this.queryCode = queryCode;
  }

  /** The error of a member that breaks a constraint of the service model. */
  public static ApiException validation(String message) {
    return new ApiException(400, "ValidationException", message);
  }

  /**
   * The error of one member that breaks a constraint of the service model.
   *
   * @param at the member, such as {@code target.arn}
   */
  public static ApiException validation(String at, String value, String constraint) {
    return validation(
        "1 validation error detected: Value '%s' at '%s' failed to satisfy constraint: %s"
            .formatted(value, at, constraint));
  }

  /** The error of a member of the wrong type. */
  public static ApiException serialization(String message) {
    return new ApiException(400, "SerializationException", message);
  }

  /** The error of a reference to a resource that does not exist. */
  public static ApiException notFound(String message) {
    return new ApiException(404, "ResourceNotFoundException", message);
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }

  /** The message, which is never absent. */
  public String text() {
    return String.valueOf(getMessage());
  }

  /** Answers by the protocol of the request. */
  public void send(HttpServerExchange exchange) {
    if (!QueryProtocol.speaks(exchange)) {
      sendJson(exchange);
    } else if (QueryProtocol.wantsJson(exchange)) {
      ObjectNode answer = Json.object();
      answer.putObject("Error").put("Code", code()).put("Message", text()).put("Type", "Sender");
      answer.put("RequestId", UUID.randomUUID().toString());
      send(exchange, "application/json", answer.toString());
    } else {
      sendXml(exchange);
    }
  }

  /** Sends the error in the XML of the query protocol, even if the request asks for JSON. */
  public void sendXml(HttpServerExchange exchange) {
    send(
        exchange,
        "text/xml",
        "<ErrorResponse><Error><Type>Sender</Type><Code>%s</Code><Message>%s</Message></Error><RequestId>%s</RequestId></ErrorResponse>"
            .formatted(code(), QueryProtocol.escape(text()), UUID.randomUUID()));
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
  private void sendJson(HttpServerExchange exchange) {
    if (!queryCode.isEmpty()) {
      exchange.getResponseHeaders().put(QUERY_ERROR, queryCode + ";Sender");
    }
    ObjectNode body = Json.object().put("__type", type).put("message", text());
    if (RpcCbor.speaks(exchange)) {
      exchange.setStatusCode(status);
      RpcCbor.send(exchange, body);
      return;
    }
    sendJson(exchange, "application/x-amz-json-1.0", body);
  }

  /** Answers with the type in a header and a body of the service's form. */
  public void sendJson(HttpServerExchange exchange, String contentType, ObjectNode body) {
    exchange.getResponseHeaders().put(ERROR_TYPE, name());
    send(exchange, contentType, body.toString());
  }

  private void send(HttpServerExchange exchange, String contentType, String body) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, contentType);
    exchange.getResponseSender().send(body);
  }

  private String code() {
    return queryCode.isEmpty() ? name() : queryCode;
  }

  private String name() {
    return type.substring(type.indexOf('#') + 1);
  }
}
