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

/** Ends a command: carries what is to be said and with which exit code. */
public final class Failure extends RuntimeException {
  /** The request was refused or failed. */
  public static final int FAILED = 1;

  /** The command was not understood. */
  static final int USAGE = 2;

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
    return new Failure(FAILED, Problem.of(detail), cause);
  }

  public static Failure of(String detail) {
    return new Failure(FAILED, Problem.of(detail));
  }

  public static Failure usage(String detail) {
    return usage(Problem.of(detail));
  }

  public static Failure usage(Problem problem) {
    return new Failure(USAGE, problem);
  }

  /**
   * A file that cannot be read.
   *
   * @param file as the user named it
   */
  public static Failure unreadable(Object file, IOException why) {
    return usage(file + " cannot be read: " + reason(why));
  }

  /** What files are refused for tells only by its class which of the usual things it is. */
  private static String reason(IOException why) {
    if (why instanceof CharacterCodingException) {
      return "it is not UTF-8";
    }
    if (why instanceof NoSuchFileException) {
      return "there is no such file";
    }
    if (why instanceof AccessDeniedException) {
      return "you may not";
    }
    return Optional.ofNullable(why.getMessage()).orElse("the system does not say why");
  }

  public static Failure refused(Answer answer) {
    return refused(answer.problem());
  }

  public static Failure refused(Problem problem) {
    return new Failure(FAILED, problem);
  }

  public static Failure unreachable(URI uri, ConnectException cause) {
    String where = uri.getScheme() + "://" + uri.getRawAuthority();
    boolean local = "127.0.0.1".equals(uri.getHost()) || "localhost".equals(uri.getHost());
    return new Failure(
        FAILED,
        Problem.of(
            local
                ? "Nothing answers at " + where + "; is `./tollgate up` running?"
                : "Nothing answers at "
                    + where
                    + (isUnknownHost(cause) ? " (the host name is unknown)" : "")),
        cause);
  }

  private static boolean isUnknownHost(@Nullable Throwable cause) {
    return cause != null
        && (cause instanceof UnresolvedAddressException || isUnknownHost(cause.getCause()));
  }

  /** What it was, in one line. */
  public String reason() {
    return problem.line();
  }

  /** The same with another exit code. */
  public Failure withExitCode(int code) {
    return new Failure(code, problem, this);
  }

  public int exitCode() {
    return exitCode;
  }

  public Problem problem() {
    return problem;
  }
}
