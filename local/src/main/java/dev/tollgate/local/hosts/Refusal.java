package dev.tollgate.local.hosts;

import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;

/**
 * The refusal of a request, answered with a problem document (RFC 9457).
 *
 * @param status the HTTP status
 * @param title the kind of problem
 * @param detail the wrong value, the expected values, and what to do
 */
public record Refusal(int status, String title, String detail) {
  private static final int LONGEST = 100;

  static Refusal ofHost(String host) {
    return new Refusal(
        421,
        "Misdirected Request",
        "Host: "
            + shortened(host)
            + " (expected: localhost, an IP address, or a name that `./tollgate up --host NAME`"
            + " allows)");
  }

  static Refusal ofOrigin(String origin) {
    return new Refusal(
        403,
        "Forbidden",
        "Origin: "
            + shortened(origin)
            + " (expected: a page of this host, of localhost, of a name that `./tollgate up --host"
            + " NAME` allows, or of an origin that the API's CORS settings allow)");
  }

  /** Answers a request with this refusal. */
  public void send(HttpServerExchange exchange) {
    exchange
        .setStatusCode(status)
        .setPersistent(false)
        .getResponseHeaders()
        .put(Headers.CONTENT_TYPE, "application/problem+json")
        .put(Headers.X_CONTENT_TYPE_OPTIONS, "nosniff");
    exchange
        .getResponseSender()
        .send(
            Json.object()
                .put("type", "about:blank")
                .put("title", title)
                .put("status", status)
                .put("detail", detail)
                .toString());
  }

  private static String shortened(String text) {
    return text.length() <= LONGEST ? text : text.substring(0, LONGEST) + "...";
  }
}
