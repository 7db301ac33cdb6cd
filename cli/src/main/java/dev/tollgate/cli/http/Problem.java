package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * An error as a problem document ({@code application/problem+json}, RFC 9457). Error responses of
 * API Gateway and IAM, which have other formats, are converted.
 *
 * @param document the problem as JSON
 */
public record Problem(ObjectNode document) {
  /** What the API's names of overrides begin with; commands name overrides without it. */
  private static final String OVERRIDE = "overrides.";

  private static final String INVALID_VALUE = "urn:tollgate:problem:invalid-value";

  /** A problem that the command line itself detected. */
  public static Problem of(String title) {
    return new Problem(Json.object().put("type", "about:blank").put("title", title));
  }

  /** The problem in an error response. */
  public static Problem of(int status, String body) {
    Optional<ObjectNode> response =
        Json.parse(body).filter(ObjectNode.class::isInstance).map(ObjectNode.class::cast);
    if (response.isPresent() && response.get().has("title")) {
      return new Problem(response.get());
    }
    ObjectNode document =
        Json.object()
            .put("type", "about:blank")
            .put("title", Status.name(status))
            .put("status", status);
    // API Gateway answers {"message":"Forbidden"}, IAM {"Message":"User: ... is not authorized"}.
    response
        .flatMap(json -> Json.text(json, "message").or(() -> Json.text(json, "Message")))
        .or(() -> response.isPresent() ? Optional.empty() : Optional.of(body.strip()))
        .filter(detail -> !detail.isEmpty() && !detail.equals(Status.name(status)))
        .ifPresent(detail -> document.put("detail", detail));
    return new Problem(document);
  }

  /** Whether the value of an override is invalid. */
  boolean isAboutOverrides() {
    return document
        .path("errors")
        .valueStream()
        .anyMatch(error -> error.path("field").asText().startsWith(OVERRIDE));
  }

  /** The problem in one line. */
  public String line() {
    return String.join(";", lines());
  }

  /** The problem in lines for a person: what is wrong, then each invalid value. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    String detail = withoutPrefix(Json.text(document, "detail").orElse(""));
    lines.add(summary(detail));
    for (JsonNode error : document.path("errors")) {
      String where =
          Stream.of("line", "row")
              .flatMap(unit -> Json.text(error, unit).map(number -> unit + " " + number).stream())
              .map(place -> place + ": ")
              .collect(Collectors.joining());
      String wrong =
          where
              + withoutPrefix(Json.text(error, "field").orElse("value"))
              + Json.text(error, "value").map(value -> ": " + value).orElse(" is missing")
              + Json.text(error, "expected")
                  .map(expected -> " (expected: " + expected + ")")
                  .orElse("");
      // With a single invalid value, the detail often says the same.
      if (!detail.endsWith(wrong)) {
        lines.add("  " + wrong);
      }
    }
    return lines;
  }

  private static String withoutPrefix(String text) {
    return text.startsWith(OVERRIDE) ? text.substring(OVERRIDE.length()) : text;
  }

  /**
   * Title and detail; if the detail explains a client's error, without the status code and its
   * name. The detail of an invalid value names the value and needs no title.
   */
  private String summary(String detail) {
    String title = Json.text(document, "title").orElse("");
    int status = document.path("status").asInt();
    boolean explained = !detail.isEmpty() && status < 500;
    boolean invalidValue = Json.text(document, "type").orElse("").equals(INVALID_VALUE);
    if (explained && (invalidValue || title.equals(Status.name(status)))) {
      return detail;
    }
    String code = status == 0 || explained ? "" : status + " ";
    return code + title + (detail.isEmpty() ? "" : ": " + detail);
  }
}
