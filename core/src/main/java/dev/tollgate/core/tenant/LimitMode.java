package dev.tollgate.core.tenant;

/** What happens to a request that exceeds a {@link Limit}. */
public enum LimitMode {
  /** It is refused. */
  ENFORCE,
  /**
   * It is let through, and counted as one that would have been refused. Nobody waits in line for
   * the tokens of an observed rate. The largest value of a limit is still enforced.
   */
  OBSERVE,
  /** Nothing: it is neither compared with the limit nor counted. The largest value is enforced. */
  OFF
}
