package dev.tollgate.core;

/**
 * A stored row that cannot be read: a hand has changed it, or a newer release wrote it. Unlike
 * {@link Unavailable}, it does not pass when the request is repeated.
 */
public sealed class UnreadableRow extends RuntimeException permits NewerRow {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final String reason;

  /**
   * Names the row.
   *
   * @param kind what the row holds, such as {@code tenant}
   * @param name whose row it is; never a session's id
   * @param misfit what was found in it, and what was expected
   */
  public UnreadableRow(String kind, String name, String misfit) {
    this(name, "the row of %s %s cannot be read: %s".formatted(kind, name, misfit));
  }

  UnreadableRow(String name, String reason) {
    super(reason);
    this.name = name;
    this.reason = reason;
  }

  /** Which row it is, what was found in it, and what was expected. */
  public final String reason() {
    return reason;
  }

  /** Whose row it is. */
  public final String name() {
    return name;
  }
}
