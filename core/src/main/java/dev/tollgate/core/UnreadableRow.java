package dev.tollgate.core;

/**
 * A stored row cannot be read, because it was edited by hand or a newer release wrote it. Unlike
 * {@link Unavailable}, a retry does not help.
 */
public sealed class UnreadableRow extends RuntimeException permits NewerRow {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final String reason;

  /**
   * Names the row.
   *
   * @param kind what the row holds, such as {@code tenant}
   * @param name the row's tenant or other key; never a session id
   * @param problem the stored and the expected value
   */
  public UnreadableRow(String kind, String name, String problem) {
    this(name, "the row of %s %s cannot be read: %s".formatted(kind, name, problem));
  }

  UnreadableRow(String name, String reason) {
    super(reason);
    this.name = name;
    this.reason = reason;
  }

  /** The row, and its stored and expected value. */
  public final String reason() {
    return reason;
  }

  /** The row's tenant or other key. */
  public final String name() {
    return name;
  }
}
