package dev.tollgate.core;

/**
 * A stored row that a newer release of Tollgate wrote, and that this release cannot read. Unlike
 * {@link Unavailable}, it does not pass when the request is repeated.
 */
public final class NewerRow extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final String name;
  private final String reason;

  /**
   * Names the row.
   *
   * @param kind what the row holds, such as {@code tenant}
   * @param name whose row it is; never a session's id
   * @param schema the row's schema version
   * @param known the newest schema version that this release reads
   */
  public NewerRow(String kind, String name, long schema, long known) {
    this(
        name,
        "the row of %s %s has schema version %d (expected: at most %d); deploy the release that wrote it"
            .formatted(kind, name, schema, known));
  }

  private NewerRow(String name, String reason) {
    super(reason);
    this.name = name;
    this.reason = reason;
  }

  /** Which row it is, its schema version, and what this release reads. */
  public String reason() {
    return reason;
  }

  /** Whose row it is. */
  public String name() {
    return name;
  }
}
