package dev.tollgate.aws.config;

/** A required environment variable is not set. */
public final class MissingVariable extends IllegalStateException {
  private static final long serialVersionUID = 1L;

  MissingVariable(String name) {
    super("environment variable " + name + " is not set");
  }
}
