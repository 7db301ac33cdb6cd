package dev.tollgate.lawbook.process;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** Requests to a child process and its answers, one line each. */
final class LineExchange implements AutoCloseable {
  private static final int LONGEST_LINE = 2_000;
  private static final int SHOWN_ERRORS = 4_000;
  private static final int ENDS_WITHIN_SECONDS = 5;

  /** What is read after the last line; no line has a line feed. */
  private static final String END = "\n";

  private final List<String> command;
  private final Process process;
  private final Duration answersWithin;
  private final BlockingQueue<String> answers = new ArrayBlockingQueue<>(8);
  private final StringBuffer errors = new StringBuffer();
  private final CompletableFuture<String> errorsEnd = new CompletableFuture<>();
  private long id;

  private LineExchange(List<String> command, Process process, Duration answersWithin) {
    this.command = command;
    this.process = process;
    this.answersWithin = answersWithin;
    read("answers", process.getInputStream(), this::readAnswers);
    read("errors", process.getErrorStream(), this::readErrors);
  }

  static LineExchange start(List<String> command, Path directory, Duration answersWithin)
      throws IOException {
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.directory(directory.toAbsolutePath().toFile());
    return new LineExchange(List.copyOf(command), builder.start(), answersWithin);
  }

  /** Reads a stream until it ends or is closed. */
  private interface Reading {
    void read(BufferedReader stream) throws IOException, InterruptedException;
  }

  private static void read(String name, InputStream stream, Reading reading) {
    Thread reader =
        new Thread(
            () -> {
              try (BufferedReader text =
                  new BufferedReader(new InputStreamReader(stream, StandardCharsets.UTF_8))) {
                reading.read(text);
              } catch (IOException | InterruptedException closed) {
                // The process was ended.
              }
            },
            "limiter " + name);
    reader.setDaemon(true);
    reader.start();
  }

  private void readAnswers(BufferedReader stream) throws IOException, InterruptedException {
    try {
      StringBuilder line = new StringBuilder();
      for (int c = stream.read(); c >= 0 && line.length() <= LONGEST_LINE; c = stream.read()) {
        if (c == '\n') {
          answers.put(line.toString());
          line.setLength(0);
        } else {
          line.append((char) c);
        }
      }
      if (!line.isEmpty()) {
        answers.put(line.toString());
      }
    } finally {
      answers.put(END);
    }
  }

  private void readErrors(BufferedReader stream) throws IOException {
    char[] part = new char[SHOWN_ERRORS];
    for (int read = stream.read(part); read >= 0; read = stream.read(part)) {
      errors.append(part, 0, read);
      errors.delete(0, Math.max(0, errors.length() - SHOWN_ERRORS));
    }
    errorsEnd.complete(END);
  }

  /**
   * Sends a request and reads its answer.
   *
   * @param fields the names that the answer may have beside its id
   * @throws Failure if there is no answer in time, or not a valid one
   */
  Answer ask(Map<String, Object> request, Set<String> fields) {
    Map<String, Object> sent = new LinkedHashMap<>(Map.of("id", ++id));
    sent.putAll(request);
    String line = FlatJson.write(sent);
    try {
      // One request at a time fits in the pipe, so a process that never reads cannot block this.
      OutputStream input = process.getOutputStream();
      input.write((line + "\n").getBytes(StandardCharsets.UTF_8));
      input.flush();
    } catch (IOException ended) {
      throw ended(line);
    }
    Answer answer = new Answer(line, next(line));
    answer.unless(answer.number("id") == id, "\"id\":" + id);
    for (String name : answer.read.keySet()) {
      answer.unless(fields.contains(name) || name.equals("id"), "no field `" + name + "`");
    }
    return answer;
  }

  private String next(String request) {
    try {
      String answer = answers.poll(answersWithin.toNanos(), TimeUnit.NANOSECONDS);
      if (answer == null) {
        throw failure("No answer within " + answersWithin + " to " + request);
      } else if (answer.equals(END)) {
        throw ended(request);
      }
      return answer;
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw failure("Interrupted at " + request);
    }
  }

  private Failure ended(String request) {
    process.onExit().completeOnTimeout(process, 1, TimeUnit.SECONDS).join();
    String what =
        process.isAlive()
            ? "The process closed its standard output"
            : "The process ended with status " + process.exitValue();
    return failure(what + " before it answered " + request);
  }

  /** Ends the process, and describes why the check cannot go on. */
  Failure failure(String what) {
    close();
    // A process that the limiter started may keep the stream open.
    errorsEnd.completeOnTimeout(END, 1, TimeUnit.SECONDS).join();
    String printed = errors.toString().strip();
    return new Failure(
        "The limiter `%s` cannot be judged. %s%nStandard error: %s"
            .formatted(
                String.join(" ", command), what, printed.isEmpty() ? "nothing" : "\n" + printed));
  }

  /**
   * Asks the process to end, so that it can end what it started, and then ends it. What it started
   * stays if it does not end within five seconds.
   */
  @Override
  public void close() {
    process.destroy();
    process.onExit().completeOnTimeout(process, ENDS_WITHIN_SECONDS, TimeUnit.SECONDS).join();
    process.destroyForcibly();
  }

  /** The protocol is broken. An error, because a run takes exceptions for broken laws. */
  static final class Failure extends AssertionError {
    private static final long serialVersionUID = 1L;

    Failure(String message) {
      super(message);
    }
  }

  /** A valid line from the process. */
  final class Answer {
    private final String request;
    private final String line;
    private final Map<String, Object> read;

    Answer(String request, String line) {
      this.request = request;
      this.line = line;
      try {
        this.read = FlatJson.read(line);
      } catch (IllegalArgumentException invalid) {
        throw bad("" + invalid.getMessage());
      }
    }

    Failure bad(String what) {
      return failure("Bad answer to %s: %s%nAnswer: %s".formatted(request, what, line));
    }

    void unless(boolean isValid, String expected) {
      if (!isValid) {
        throw bad("expected " + expected);
      }
    }

    Optional<String> text(String name) {
      return field(name, String.class, "a text");
    }

    long number(String name) {
      return needed(field(name, Long.class, "a whole number"), name);
    }

    long number(String name, long otherwise) {
      return field(name, Long.class, "a whole number").orElse(otherwise);
    }

    Duration nanos(String name) {
      return Duration.ofNanos(number(name));
    }

    /** Whether an optional truth value is there and true. */
    boolean isTrue(String name) {
      return field(name, Boolean.class, "true or false").orElse(false);
    }

    boolean truth(String name) {
      return needed(field(name, Boolean.class, "true or false"), name);
    }

    private <T> T needed(Optional<T> value, String name) {
      return value.orElseThrow(() -> bad("expected a field `" + name + "`"));
    }

    private <T> Optional<T> field(String name, Class<T> type, String kind) {
      Optional<Object> value = Optional.ofNullable(read.get(name));
      unless(value.stream().allMatch(type::isInstance), "`" + name + "` to be " + kind);
      return value.map(type::cast);
    }
  }
}
