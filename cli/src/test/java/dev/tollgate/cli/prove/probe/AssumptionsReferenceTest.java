package dev.tollgate.cli.prove.probe;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * {@code docs/reference/assumptions.md} has each answer in {@code docs/aws-answers}. {@code
 * -Dreference.write=true} writes the page anew.
 */
final class AssumptionsReferenceTest {
  private static final Path ROOT = Path.of("..").toAbsolutePath().normalize();
  private static final Path PAGE = ROOT.resolve("docs/reference/assumptions.md");
  private static final RecordedAnswers ANSWERS =
      RecordedAnswers.read(ROOT.resolve("docs/aws-answers"));

  private static final String START =
      """
      # Assumptions about AWS

      Look up what Tollgate assumes where the documentation of AWS leaves a question open, and what fails if AWS behaves differently. The probe stack asks
      each question on an account. `assumed` means that nobody has recorded an answer of AWS yet; otherwise there is the day on which AWS gave it. [The answers](../aws-answers/README.md)
      are in one file for each question.

      | question | status | source | relied on by | if it is wrong |
      | --- | --- | --- | --- | --- |
      """;

  /** It has no answer: it takes a night on which clocks change. */
  private static final String END =
      """

      ## Questions that the probe stack does not ask

      | question | assumption | source | relied on by | if it is wrong |
      | --- | --- | --- | --- | --- |
      | What does EventBridge Scheduler do at a local time that is skipped or repeated when clocks change? | A schedule skips a time that does not exist, and fires once at a time that comes twice. AWS does not say at which of the two | [AWS](https://docs.aws.amazon.com/scheduler/latest/UserGuide/schedule-types.html#daylist-savings-time) | [`EventBridgeFillSchedules.java`](../../aws/src/main/java/dev/tollgate/aws/scheduler/EventBridgeFillSchedules.java), [`EventBridgeWindowSchedules.java`](../../aws/src/main/java/dev/tollgate/aws/scheduler/EventBridgeWindowSchedules.java), [`Timing.java`](../../local/src/main/java/dev/tollgate/local/scheduler/Timing.java) | Windows of scheduled limits do not depend on it: their schedules have times that exist once, and the sweep opens and closes windows, too. A bucket with a calendar is filled by the first claim of its period instead. |
      """;

  @Test
  void page_has_each_question_and_its_answer() throws IOException {
    String page =
        START
            + Probe.questions().stream()
                .map(AssumptionsReferenceTest::row)
                .collect(Collectors.joining())
            + END;
    if (Boolean.getBoolean("reference.write")) {
      Files.writeString(PAGE, page);
    }
    assertThat(PAGE).as("-Dreference.write=true writes it").hasContent(page);
  }

  private static String row(Question question) {
    RecordedAnswer answer = ANSWERS.byQuestion().get(question.name());
    String files =
        answer.reliedOnBy().stream()
            .map(
                path -> "[`" + path.substring(path.lastIndexOf('/') + 1) + "`](../../" + path + ")")
            .collect(Collectors.joining(", "));
    return "| [%s](../aws-answers/%s.json) | %s | [AWS](%s) | %s | %s |\n"
        .formatted(
            question.text(),
            question.name(),
            answer.recordedAt().map(at -> at.toString().substring(0, 10)).orElse("assumed"),
            answer.source(),
            files,
            answer.ifWrong());
  }

  @Test
  void every_question_has_an_answer_and_every_answer_a_question() {
    assertThat(ANSWERS.byQuestion().keySet())
        .containsExactlyInAnyOrderElementsOf(
            Probe.questions().stream().map(Question::name).toList());
  }

  @Test
  void every_file_that_relies_on_an_answer_exists() {
    for (RecordedAnswer answer : ANSWERS.byQuestion().values()) {
      assertThat(answer.reliedOnBy()).as(answer.question()).isNotEmpty();
      for (String path : answer.reliedOnBy()) {
        assertThat(ROOT.resolve(path)).as(answer.question()).isRegularFile();
      }
    }
  }

  @Test
  void every_source_is_a_page_of_aws() {
    assertThat(ANSWERS.byQuestion().values())
        .allMatch(answer -> answer.source().startsWith("https://docs.aws.amazon.com/"));
  }
}
