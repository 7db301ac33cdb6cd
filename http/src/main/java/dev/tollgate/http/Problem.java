package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A problem document (RFC 9457): why a request failed, for programs and people.
 *
 * @param name the last part of the document's type {@code urn:tollgate:problem:…}
 * @param status the HTTP status
 * @param title the summary of this type of problem
 * @param detail what is wrong with this request, the value, and what the caller can do
 * @param members additional members of the document
 */
public record Problem(
    String name, int status, String title, String detail, Map<String, Object> members) {
  /** Copies the members. */
  public Problem {
    members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
  }

  /** A problem without additional members. */
  public static Problem of(String name, int status, String title, String detail) {
    return new Problem(name, status, title, detail, Map.of());
  }

  /** An invalid value. Member {@code errors} names the field, the value and what is expected. */
  public static Problem invalid(InvalidValue invalid) {
    Map<String, String> error = new LinkedHashMap<>();
    error.put("field", invalid.field());
    error.put("value", invalid.value());
    error.put("expected", invalid.expected());
    String detail =
        invalid.field() + ": " + invalid.value() + " (expected: " + invalid.expected() + ")";
    return of("invalid-value", 400, "A value is not valid", detail).with("errors", List.of(error));
  }

  /** A resource that does not exist. */
  public static Problem notFound(String detail) {
    return of("not-found", 404, "Not found", detail);
  }

  /** A request that conflicts with the current state. */
  public static Problem conflict(String detail) {
    return of("conflict", 409, "Conflict", detail);
  }

  /** A request whose {@code If-Match} does not name the current version. */
  public static Problem preconditionFailed(String detail) {
    return of("precondition-failed", 412, "The version does not match", detail);
  }

  /** This problem with an additional member. */
  public Problem with(String member, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(members);
    more.put(member, value);
    return new Problem(name, status, title, detail, more);
  }

  /** The response with this problem as its document. */
  public Response response() {
    Map<String, Object> document = new LinkedHashMap<>();
    document.put("type", "urn:tollgate:problem:" + name);
    document.put("title", title);
    document.put("status", status);
    document.put("detail", detail);
    document.putAll(members);
    return new Response(status, Map.of("content-type", "application/problem+json"), document);
  }
}
