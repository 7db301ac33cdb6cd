package dev.tollgate.local.endpoint;

import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.HttpString;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The query protocol: a request is a form, and its answer is XML or, for API Gateway, JSON.
 *
 * @see <a href="https://smithy.io/2.0/aws/protocols/aws-query-protocol.html">AWS query protocol</a>
 */
public final class QueryProtocol {
  private QueryProtocol() {}

  /** Whether a request is a form, in its body or its query. */
  public static boolean speaks(HttpServerExchange exchange) {
    return header(exchange, Headers.CONTENT_TYPE).startsWith("application/x-www-form-urlencoded")
        || isInQuery(exchange);
  }

  /** Whether a request has its form in the query. The engine of queues answers those to a queue. */
  static boolean isInQuery(HttpServerExchange exchange) {
    return exchange.getRequestPath().equals("/")
        && exchange.getQueryParameters().containsKey("Action");
  }

  /** Whether a caller asks for an answer in JSON. */
  public static boolean wantsJson(HttpServerExchange exchange) {
    return header(exchange, Headers.ACCEPT).contains("application/json");
  }

  /** The parameters of a form; none if the body is something else. */
  static Map<String, String> parameters(String body) {
    Map<String, String> parameters = new HashMap<>();
    for (String pair : body.split("&", -1)) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        parameters.put(decode(pair.substring(0, equals)), decode(pair.substring(equals + 1)));
      }
    }
    return parameters;
  }

  /** The session tags in a form, in their order; a key may occur again. */
  public static List<Map.Entry<String, String>> tags(Map<String, String> form) {
    return IntStream.iterate(1, i -> i + 1)
        .mapToObj(i -> "Tags.member." + i + ".")
        .takeWhile(tag -> form.containsKey(tag + "Key"))
        .map(
            tag ->
                Map.entry(form.getOrDefault(tag + "Key", ""), form.getOrDefault(tag + "Value", "")))
        .toList();
  }

  /** Text for an XML answer. */
  public static String escape(String text) {
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
  }

  private static String decode(String text) {
    try {
      return URLDecoder.decode(text, StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return text;
    }
  }

  private static String header(HttpServerExchange exchange, HttpString name) {
    return Optional.ofNullable(exchange.getRequestHeaders().getFirst(name)).orElse("");
  }
}
