package dev.tollgate.core.tenant;

/** What happens to a connection when its bucket cannot be asked. */
public enum OnUnavailable {
  /** It is let in without a token. */
  ADMIT,
  /** It is refused. */
  REFUSE
}
