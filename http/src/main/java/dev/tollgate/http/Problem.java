package dev.tollgate.http;

import dev.tollgate.core.InvalidValue;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Why a request was not done, for programs and for people (RFC 9457).
 *
 * @param name the kind of problem; its type is {@code urn:tollgate:problem:} and this
 * @param status the HTTP status
 * @param title the kind of problem in words
 * @param detail what is the matter this time
 * @param members more of the document's members
 */
public record Problem(
    String name, int status, String title, String detail, Map<String, Object> members) {
  /** Copies the members. */
  public Problem {
    members = Collections.unmodifiableMap(new LinkedHashMap<>(members));
  }

  /** A problem without further members. */
  public static Problem of(String name, int status, String title, String detail) {
    return new Problem(name, status, title, detail, Map.of());
  }

  /** A value that was refused, with {@code errors} naming field, value and what was expected. */
  public static Problem invalid(InvalidValue refused) {
    Map<String, String> error = new LinkedHashMap<>();
    error.put("field", refused.field());
    error.put("value", refused.value());
    error.put("expected", refused.expected());
    String detail =
        refused.field() + ": " + refused.value() + " (expected: " + refused.expected() + ")";
    return of("invalid-value", 400, "A value is not valid", detail).with("errors", List.of(error));
  }

  /** Something that was asked for by name and is not there. */
  public static Problem notFound(String detail) {
    return of("not-found", 404, "There is no such thing", detail);
  }

  /** Something that stands against what was asked. */
  public static Problem conflict(String detail) {
    return of("conflict", 409, "Conflict", detail);
  }

  /** What was asked for is not said of the version that stands. */
  public static Problem preconditionFailed(String detail) {
    return of("precondition-failed", 412, "Another version stands", detail);
  }

  /** This problem with one more member. */
  public Problem with(String member, Object value) {
    Map<String, Object> more = new LinkedHashMap<>(members);
    more.put(member, value);
    return new Problem(name, status, title, detail, more);
  }

  /** The response that tells of this problem. */
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
