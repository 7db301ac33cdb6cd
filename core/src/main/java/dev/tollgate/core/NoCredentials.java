package dev.tollgate.core;

/**
 * A request was not sent, because the credentials for it could not be had: STS is throttled, for
 * example. This says nothing about the service that the request was for.
 */
public final class NoCredentials extends Unavailable {
  private static final long serialVersionUID = 1L;

  /** Keeps the failure to get credentials. */
  public NoCredentials(Unavailable cause) {
    super(cause.reason());
    initCause(cause);
  }
}
