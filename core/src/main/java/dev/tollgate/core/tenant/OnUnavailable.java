package dev.tollgate.core.tenant;

/** What happens to a connection when its bucket's queue fails. */
public enum OnUnavailable {
  /** It is admitted without a token. */
  ADMIT,
  /** It is refused. */
  REFUSE
}
