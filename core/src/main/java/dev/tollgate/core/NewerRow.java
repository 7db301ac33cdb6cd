package dev.tollgate.core;

/** A stored row that a newer release of Tollgate wrote, and that this release cannot read. */
public final class NewerRow extends UnreadableRow {
  private static final long serialVersionUID = 1L;

  /**
   * Names the row.
   *
   * @param kind what the row holds, such as {@code tenant}
   * @param name the row's tenant or other key; never a session id
   * @param schema the row's schema version
   * @param known the newest schema version that this release reads
   */
  public NewerRow(String kind, String name, long schema, long known) {
    super(
        name,
        "the row of %s %s has schema version %d (expected: at most %d); deploy the release that wrote it"
            .formatted(kind, name, schema, known));
  }
}
