package dev.tollgate.cli.http;

import java.util.Map;

/** Names of the HTTP status codes that the APIs send (RFC 9110, RFC 6585). */
public final class Status {
  private static final Map<Integer, String> NAMES =
      Map.ofEntries(
          Map.entry(400, "Bad Request"),
          Map.entry(401, "Unauthorized"),
          Map.entry(403, "Forbidden"),
          Map.entry(404, "Not Found"),
          Map.entry(405, "Method Not Allowed"),
          Map.entry(409, "Conflict"),
          Map.entry(410, "Gone"),
          Map.entry(412, "Precondition Failed"),
          Map.entry(413, "Content Too Large"),
          Map.entry(415, "Unsupported Media Type"),
          Map.entry(429, "Too Many Requests"),
          Map.entry(500, "Internal Server Error"),
          Map.entry(502, "Bad Gateway"),
          Map.entry(503, "Service Unavailable"),
          Map.entry(504, "Gateway Timeout"));

  private Status() {}

  public static String name(int code) {
    return NAMES.getOrDefault(code, "HTTP status " + code);
  }
}
