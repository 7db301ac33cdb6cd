package dev.tollgate.local.gateway;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.HeaderValues;
import io.undertow.util.Headers;
import io.undertow.util.StatusCodes;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** Reads requests and sends answers, for both kinds of API. */
final class Requests {
  private static final SecureRandom RANDOM = new SecureRandom();

  /** The format of {@code $context.requestTime}. */
  private static final DateTimeFormatter CLF =
      DateTimeFormatter.ofPattern("dd/MMM/yyyy:HH:mm:ss Z", Locale.ENGLISH)
          .withZone(ZoneOffset.UTC);

  private static final Pattern BROKEN_ESCAPE = Pattern.compile("%(?![0-9A-Fa-f]{2})");

  private Requests() {}

  /** A new id of a request or a connection: 15 characters and a =, as in API Gateway. */
  static String newId() {
    byte[] random = new byte[11];
    RANDOM.nextBytes(random);
    return Base64.getUrlEncoder().encodeToString(random);
  }

  static String time(Instant instant) {
    return CLF.format(instant);
  }

  static String domainName(Environment environment, String apiId) {
    return apiId + ".execute-api." + environment.region() + ".amazonaws.com";
  }

  static String sourceIp(HttpServerExchange exchange) {
    return exchange.getSourceAddress().getAddress().getHostAddress();
  }

  static String userAgent(HttpServerExchange exchange) {
    String agent = exchange.getRequestHeaders().getFirst(Headers.USER_AGENT);
    return agent == null ? "" : agent;
  }

  /** The undecoded path as the client sent it; it may be malformed. */
  static String rawPath(HttpServerExchange exchange) {
    String uri = exchange.getRequestURI();
    if (!exchange.isHostIncludedInRequestURI()) {
      return uri;
    }
    int path = uri.indexOf('/', uri.indexOf("://") + 3);
    return path < 0 ? "/" : uri.substring(path);
  }

  /** Whether a path has a percent sign that begins no escape sequence. */
  static boolean isMalformed(String path) {
    return BROKEN_ESCAPE.matcher(path).find();
  }

  /** Decodes a path. Unlike in a query, a plus sign is literal. */
  static String decode(String rawPath) {
    return URLDecoder.decode(rawPath.replace("+", "%2B"), StandardCharsets.UTF_8);
  }

  /** The request's headers and the headers that a proxy adds; the case of names is kept. */
  static Map<String, List<String>> headers(HttpServerExchange exchange) {
    Map<String, List<String>> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    for (HeaderValues header : exchange.getRequestHeaders()) {
      headers.put(header.getHeaderName().toString(), List.copyOf(header));
    }
    headers.put("X-Forwarded-For", List.of(sourceIp(exchange)));
    headers.put("X-Forwarded-Port", List.of(Integer.toString(exchange.getHostPort())));
    headers.put("X-Forwarded-Proto", List.of(exchange.getRequestScheme()));
    return headers;
  }

  /** The query's parameters, decoded. */
  static Map<String, List<String>> query(HttpServerExchange exchange) {
    Map<String, List<String>> query = new TreeMap<>();
    exchange
        .getQueryParameters()
        .forEach((name, values) -> query.put(name, new ArrayList<>(values)));
    return query;
  }

  static void reply(HttpServerExchange exchange, int status, ObjectNode body) {
    exchange
        .setStatusCode(status)
        .getResponseHeaders()
        .put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(body.toString());
  }

  static void reply(HttpServerExchange exchange, int status, String message) {
    reply(exchange, status, Json.object().put("message", message));
  }

  /** Answers with a status and its standard phrase. */
  static void refuse(HttpServerExchange exchange, int status) {
    reply(exchange, status, StatusCodes.getReason(status));
  }
}
