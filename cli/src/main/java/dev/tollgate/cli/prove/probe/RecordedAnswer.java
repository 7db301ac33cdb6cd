package dev.tollgate.cli.prove.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * The answer that this project relies on, in a file of {@code docs/aws-answers}.
 *
 * @param question the question's name
 * @param recordedAt when AWS gave the answer; empty if it is assumed from documentation
 * @param source the page that documents or suggests the answer
 * @param reliedOnBy files of the project that are right only with this answer
 * @param ifWrong what fails with another answer, and which file to change
 */
public record RecordedAnswer(
    String question,
    Optional<Instant> recordedAt,
    String source,
    JsonNode answer,
    List<String> reliedOnBy,
    String ifWrong) {

  /**
   * A place where two answers differ.
   *
   * @param pointer a JSON Pointer (RFC 6901)
   * @param expected the recorded value; a missing node if there is none
   * @param seen the new value; a missing node if there is none
   */
  public record Difference(String pointer, JsonNode expected, JsonNode seen) {
    @Override
    public String toString() {
      return pointer + ": " + text(seen) + " (recorded: " + text(expected) + ")";
    }

    private static String text(JsonNode value) {
      return value.isMissingNode() ? "absent" : value.toString();
    }
  }

  public RecordedAnswer {
    reliedOnBy = List.copyOf(reliedOnBy);
  }

  /**
   * Reads the content of a file.
   *
   * @param name the file's name in messages
   * @throws Failure if a member is absent or malformed
   */
  static RecordedAnswer of(String name, JsonNode document) {
    List<String> users = new ArrayList<>();
    document.path("reliedOnBy").forEach(user -> users.add(user.asText()));
    String status = required(name, document, "status");
    Optional<Instant> recordedAt =
        switch (status) {
          case "assumed" -> Optional.empty();
          case "recorded" -> Optional.of(instant(name, required(name, document, "recordedAt")));
          default ->
              throw Failure.usage(
                  name + ": status: " + status + " (expected: assumed or recorded)");
        };
    if (!document.has("answer")) {
      throw Failure.usage(name + ": answer is absent");
    }
    return new RecordedAnswer(
        required(name, document, "question"),
        recordedAt,
        required(name, document, "source"),
        document.path("answer"),
        users,
        required(name, document, "ifWrong"));
  }

  private static String required(String name, JsonNode document, String member) {
    return Json.text(document, member)
        .orElseThrow(() -> Failure.usage(name + ": " + member + " is absent"));
  }

  private static Instant instant(String name, String text) {
    try {
      return Instant.parse(text);
    } catch (DateTimeParseException e) {
      throw Failure.usage(name + ": recordedAt: " + text + " (expected: 2026-11-27T12:00:00Z)");
    }
  }

  /** The content of the file. */
  JsonNode document() {
    ObjectNode document =
        Json.object()
            .put("question", question)
            .put("status", recordedAt.isPresent() ? "recorded" : "assumed");
    recordedAt.ifPresent(at -> document.put("recordedAt", at.toString()));
    document.put("source", source).set("answer", answer);
    document.set("reliedOnBy", Json.tree(reliedOnBy));
    return document.put("ifWrong", ifWrong);
  }

  /** The same entry with an answer of AWS. */
  RecordedAnswer recorded(JsonNode seen, Instant at) {
    return new RecordedAnswer(question, Optional.of(at), source, seen, reliedOnBy, ifWrong);
  }

  /** The places where another answer differs, sorted by pointer; empty if it is the same. */
  public List<Difference> differences(JsonNode seen) {
    Map<String, JsonNode> before = leaves(answer);
    Map<String, JsonNode> after = leaves(seen);
    TreeSet<String> pointers = new TreeSet<>(before.keySet());
    pointers.addAll(after.keySet());
    JsonNode missing = Json.object().path("");
    return pointers.stream()
        .map(
            pointer ->
                new Difference(
                    pointer,
                    before.getOrDefault(pointer, missing),
                    after.getOrDefault(pointer, missing)))
        .filter(difference -> !difference.expected().equals(difference.seen()))
        .toList();
  }

  /** The values that are neither an object nor a list with elements, by JSON Pointer. */
  private static Map<String, JsonNode> leaves(JsonNode document) {
    Map<String, JsonNode> leaves = new TreeMap<>();
    collect("", document, leaves);
    return leaves;
  }

  private static void collect(String pointer, JsonNode node, Map<String, JsonNode> leaves) {
    if (node.isValueNode() || node.isEmpty()) {
      leaves.put(pointer, node);
    }
    node.properties()
        .forEach(
            member ->
                collect(
                    pointer + "/" + member.getKey().replace("~", "~0").replace("/", "~1"),
                    member.getValue(),
                    leaves));
    if (node.isArray()) {
      for (int i = 0; i < node.size(); i++) {
        collect(pointer + "/" + i, node.get(i), leaves);
      }
    }
  }
}
