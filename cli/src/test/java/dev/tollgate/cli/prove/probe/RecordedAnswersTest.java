package dev.tollgate.cli.prove.probe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RecordedAnswersTest {
  private static final String FILE =
      """
      {
        "question" : "first-one",
        "status" : "assumed",
        "source" : "https://docs.aws.amazon.com/a",
        "answer" : {
          "a" : 1,
          "b" : [ {
            "c/d" : "x"
          } ],
          "e" : { }
        },
        "reliedOnBy" : [ "pom.xml" ],
        "ifWrong" : "Nothing."
      }
      """;

  @TempDir private Path directory;

  private RecordedAnswers recorded(String text) throws IOException {
    Files.writeString(directory.resolve("first-one.json"), text);
    return RecordedAnswers.read(directory);
  }

  private static Answer answer(String json) {
    JsonNode document = Json.parse(json.replace('\'', '"')).orElseThrow();
    return new Answer("first-one", document);
  }

  @Test
  void the_same_answer_has_no_differences() throws IOException {
    assertThat(recorded(FILE).compare(answer("{'e':{},'b':[{'c/d':'x'}],'a':1}"))).isEmpty();
  }

  @Test
  void every_difference_has_its_place() throws IOException {
    assertThat(recorded(FILE).compare(answer("{'a':2,'b':[{'c/d':'y'},3],'f':null}")))
        .extracting(Object::toString)
        .containsExactly(
            "/a: 2 (recorded: 1)",
            "/b/0/c~1d: \"y\" (recorded: \"x\")",
            "/b/1: 3 (recorded: absent)",
            "/e: absent (recorded: {})",
            "/f: null (recorded: absent)");
  }

  @Test
  void the_recorded_answers_have_nothing_of_one_run_or_account() {
    RecordedAnswers.read(Path.of("../docs/aws-answers"))
        .byQuestion()
        .forEach(
            (question, recorded) ->
                assertThat(Json.write(recorded.answer()))
                    .as(question)
                    .doesNotContainPattern("[0-9]{10}|[0-9a-f]{8}-|127\\.0\\.0\\.1|us-east-1")
                    .doesNotContain("run-", "amazonaws"));
  }

  @Test
  void a_whole_answer_may_differ() throws IOException {
    assertThat(recorded(FILE).compare(answer("'text'")))
        .extracting(Object::toString)
        .contains(": \"text\" (recorded: absent)");
  }

  @Test
  void files_are_written_as_they_were_read() throws IOException {
    recorded(FILE).write(directory);
    assertThat(directory.resolve("first-one.json")).hasContent(FILE);
  }

  @Test
  void an_answer_of_aws_replaces_an_assumption() throws IOException {
    recorded(FILE).with(answer("{'a':2}"), Instant.parse("2026-11-27T12:00:00Z")).write(directory);
    assertThat(Json.parse(Files.readString(directory.resolve("first-one.json"))).orElseThrow())
        .hasToString(
            ("{'question':'first-one','status':'recorded','recordedAt':'2026-11-27T12:00:00Z',"
                    + "'source':'https://docs.aws.amazon.com/a','answer':{'a':2},"
                    + "'reliedOnBy':['pom.xml'],'ifWrong':'Nothing.'}")
                .replace('\'', '"'));
    assertThat(RecordedAnswers.read(directory).compare(answer("{'a':2}"))).isEmpty();
  }

  @Test
  void an_unknown_question_is_refused() throws IOException {
    RecordedAnswers recorded = recorded(FILE);
    Answer other = new Answer("other-one", Json.object());
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> recorded.compare(other))
        .withMessageContaining("No recorded answer for question other-one");
  }

  @ParameterizedTest
  @CsvSource({
    "assumed, guessed, 'first-one.json: status: guessed (expected: assumed or recorded)'",
    "assumed, recorded, 'first-one.json: recordedAt is absent'",
    "first-one, other-one, 'first-one.json: question: other-one (expected: the file''s name)'",
    "ifWrong, other, 'first-one.json: ifWrong is absent'",
    "answer, other, 'first-one.json: answer is absent'"
  })
  void a_malformed_file_is_refused(String text, String instead, String message) {
    assertThatExceptionOfType(Failure.class)
        .isThrownBy(() -> recorded(FILE.replace(text, instead)))
        .withMessageContaining(message);
  }
}
