package dev.tollgate.cli.http;

import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.nio.channels.UnresolvedAddressException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.NoSuchFileException;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Ends a command with a problem and an exit code. */
public final class Failure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int exitCode;
  private final transient Problem problem;

  private Failure(int exitCode, Problem problem, Throwable cause) {
    super(String.join("\n", problem.lines()), cause);
    this.exitCode = exitCode;
    this.problem = problem;
  }

  private Failure(int exitCode, Problem problem) {
    super(String.join("\n", problem.lines()));
    this.exitCode = exitCode;
    this.problem = problem;
  }

  public static Failure of(String detail, Throwable cause) {
    return new Failure(ExitCode.FAILED, Problem.of(detail), cause);
  }

  public static Failure of(String detail) {
    return new Failure(ExitCode.FAILED, Problem.of(detail));
  }

  public static Failure usage(String detail) {
    return usage(Problem.of(detail));
  }

  public static Failure usage(Problem problem) {
    return new Failure(ExitCode.USAGE, problem);
  }

  /**
   * Refuses an invalid value of an option.
   *
   * @throws Failure if the value is not valid
   */
  public static void checkOption(boolean isValid, String option, Object value, String expected) {
    if (!isValid) {
      throw usage("%s: %s (expected: %s)".formatted(option, value, expected));
    }
  }

  /**
   * The failure to read a file.
   *
   * @param file the file's name in messages
   */
  public static Failure unreadable(Object file, IOException why) {
    return usage("Cannot read " + file + ": " + reason(why));
  }

  /** The messages of the usual exceptions repeat the file name; only their classes give reasons. */
  private static String reason(IOException why) {
    if (why instanceof CharacterCodingException) {
      return "the file is not UTF-8";
    }
    if (why instanceof NoSuchFileException) {
      return "no such file";
    }
    if (why instanceof AccessDeniedException) {
      return "permission denied";
    }
    return Optional.ofNullable(why.getMessage()).orElse(why.getClass().getSimpleName());
  }

  public static Failure rejected(Response response) {
    return rejected(response.problem());
  }

  /** The failure of a rejected request; if an override is invalid, of the command line. */
  public static Failure rejected(Problem problem) {
    return problem.isAboutOverrides() ? usage(problem) : new Failure(ExitCode.FAILED, problem);
  }

  public static Failure unreachable(URI uri, ConnectException cause) {
    String where = uri.getScheme() + "://" + uri.getRawAuthority();
    boolean local = "127.0.0.1".equals(uri.getHost()) || "localhost".equals(uri.getHost());
    return new Failure(
        ExitCode.FAILED,
        Problem.of(
            local
                ? "Cannot connect to " + where + ". Start the local cloud with `./tollgate up`."
                : "Cannot connect to " + where + (isUnknownHost(cause) ? ": unknown host" : "")),
        cause);
  }

  private static boolean isUnknownHost(@Nullable Throwable cause) {
    return cause != null
        && (cause instanceof UnresolvedAddressException || isUnknownHost(cause.getCause()));
  }

  /** The problem in one line. */
  public String reason() {
    return problem.line();
  }

  public int exitCode() {
    return exitCode;
  }

  public Problem problem() {
    return problem;
  }
}
