package dev.tollgate.cli.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Why something was refused or failed, as a problem document ({@code application/problem+json}, RFC
 * 9457). What a gateway says in its own words becomes one as well.
 *
 * @param document the problem as JSON
 */
public record Problem(ObjectNode document) {

  /** A problem that this side found. */
  public static Problem of(String title) {
    return new Problem(Json.object().put("type", "about:blank").put("title", title));
  }

  /** The problem that a server's answer tells of. */
  public static Problem of(int status, String body) {
    Optional<ObjectNode> answer =
        Json.parse(body).filter(ObjectNode.class::isInstance).map(ObjectNode.class::cast);
    if (answer.isPresent() && answer.get().has("title")) {
      return new Problem(answer.get());
    }
    ObjectNode document =
        Json.object()
            .put("type", "about:blank")
            .put("title", Status.name(status))
            .put("status", status);
    // API Gateway answers {"message":"Forbidden"}, IAM {"Message":"User: ... is not authorized"}.
    answer
        .flatMap(json -> Json.text(json, "message").or(() -> Json.text(json, "Message")))
        .or(() -> answer.isPresent() ? Optional.empty() : Optional.of(body.strip()))
        .filter(detail -> !detail.isEmpty() && !detail.equals(Status.name(status)))
        .ifPresent(detail -> document.put("detail", detail));
    return new Problem(document);
  }

  /** The problem in one line. */
  public String line() {
    return String.join(";", lines());
  }

  /** The problem in lines for a person: what, why, then each value that is wrong. */
  public List<String> lines() {
    List<String> lines = new ArrayList<>();
    String status = Json.text(document, "status").map(code -> code + " ").orElse("");
    String title = Json.text(document, "title").orElse("");
    String detail = Json.text(document, "detail").map(text -> ": " + text).orElse("");
    lines.add(status + title + detail);
    for (JsonNode error : document.path("errors")) {
      String where =
          Stream.of("line", "row")
              .flatMap(unit -> Json.text(error, unit).map(number -> unit + " " + number).stream())
              .map(place -> place + ": ")
              .collect(Collectors.joining());
      String wrong =
          where
              + Json.text(error, "field").orElse("value")
              + Json.text(error, "value").map(value -> ": " + value).orElse(" is missing")
              + Json.text(error, "expected")
                  .map(expected -> " (expected: " + expected + ")")
                  .orElse("");
      // A single one is often the whole detail.
      if (!detail.endsWith(wrong)) {
        lines.add("  " + wrong);
      }
    }
    return lines;
  }
}
