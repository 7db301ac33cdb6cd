package dev.tollgate.cli.http;

/** The exit codes of all commands, besides 0 for success. */
public final class ExitCode {
  /** A request was rejected or failed, a change was not made, or an alarm is raised. */
  public static final int FAILED = 1;

  /** The command line or an input file is invalid. */
  public static final int USAGE = 2;

  /** A command that only compares has found differences. */
  public static final int DIFFERS = 3;

  private ExitCode() {}
}
