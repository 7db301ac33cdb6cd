package dev.tollgate.cli.prove.probe;

import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.probe.RecordedAnswer.Difference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The answers in a directory such as {@code docs/aws-answers}: one file {@code <question>.json} for
 * each question.
 *
 * @param byQuestion the answers by the names of their questions
 */
public record RecordedAnswers(Map<String, RecordedAnswer> byQuestion) {
  private static final String SUFFIX = ".json";

  public RecordedAnswers {
    byQuestion = Map.copyOf(byQuestion);
  }

  /**
   * Reads a directory.
   *
   * @throws Failure if it or one of its files cannot be read, or a file is named otherwise than its
   *     question
   */
  public static RecordedAnswers read(Path directory) {
    Map<String, RecordedAnswer> answers = new TreeMap<>();
    try (Stream<Path> files = Files.list(directory)) {
      for (Path file : files.filter(each -> each.toString().endsWith(SUFFIX)).sorted().toList()) {
        String name = file.getFileName().toString();
        RecordedAnswer answer = RecordedAnswer.of(name, Json.read(name, Files.readString(file)));
        if (!name.equals(answer.question() + SUFFIX)) {
          throw Failure.usage(
              name + ": question: " + answer.question() + " (expected: the file's name)");
        }
        answers.put(answer.question(), answer);
      }
    } catch (IOException e) {
      throw Failure.unreadable(directory.toString(), e);
    }
    return new RecordedAnswers(answers);
  }

  /**
   * Compares an answer with the recorded one.
   *
   * @return the places where they differ, empty if they are the same
   * @throws Failure if there is no file for the question
   */
  public List<Difference> compare(Answer answer) {
    return of(answer).differences(answer.answer());
  }

  /**
   * A copy in which an answer of AWS replaces the recorded one.
   *
   * @param at when AWS gave it
   * @throws Failure if there is no file for the question
   */
  public RecordedAnswers with(Answer answer, Instant at) {
    Map<String, RecordedAnswer> all = new TreeMap<>(byQuestion);
    all.put(answer.question(), of(answer).recorded(answer.answer(), at));
    return new RecordedAnswers(all);
  }

  /**
   * Writes all files.
   *
   * @throws Failure if a file cannot be written
   */
  public void write(Path directory) {
    for (RecordedAnswer answer : byQuestion.values()) {
      Path file = directory.resolve(answer.question() + SUFFIX);
      try {
        Files.writeString(file, Json.writePretty(answer.document()) + "\n");
      } catch (IOException e) {
        throw Failure.of("Cannot write " + file + ": " + e.getMessage(), e);
      }
    }
  }

  /**
   * The recorded answer to the same question.
   *
   * @throws Failure if there is no file for the question
   */
  public RecordedAnswer of(Answer answer) {
    return Optional.ofNullable(byQuestion.get(answer.question()))
        .orElseThrow(() -> Failure.of("No recorded answer for question " + answer.question()));
  }
}
