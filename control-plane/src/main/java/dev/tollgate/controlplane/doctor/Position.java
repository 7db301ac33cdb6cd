package dev.tollgate.controlplane.doctor;

import dev.tollgate.core.InvalidValue;
import java.util.Locale;
import java.util.Optional;

/**
 * A position in the sequence of all resources that the doctor checks.
 *
 * @param stage the type of the resources to check next
 * @param cursor the end of the previous page of this stage; empty at the start of the stage
 */
public record Position(Stage stage, Optional<String> cursor) {
  /** The start of the sequence. */
  public static final Position START = new Position(Stage.TENANTS, Optional.empty());

  /** The types of resources, in the order in which they are checked. */
  public enum Stage {
    /** The tenants with their buckets' rows, queues and schedules. */
    TENANTS,
    /** All queues of buckets. */
    QUEUES,
    /** All schedules of buckets. */
    SCHEDULES,
    /** All schedules of shards. */
    SHARDS,
    /** The account's quotas, and the policy of the Credentials table. */
    QUOTAS;

    /** The name in documents. */
    public String key() {
      return name().toLowerCase(Locale.ROOT);
    }

    Optional<Stage> next() {
      return switch (this) {
        case TENANTS -> Optional.of(QUEUES);
        case QUEUES -> Optional.of(SCHEDULES);
        case SCHEDULES -> Optional.of(SHARDS);
        case SHARDS -> Optional.of(QUOTAS);
        case QUOTAS -> Optional.empty();
      };
    }
  }

  /**
   * Parses the text that {@link #toString} returns.
   *
   * @throws InvalidValue if the text is malformed
   */
  public static Position parse(String text) {
    int colon = text.indexOf(':');
    for (Stage stage : Stage.values()) {
      if (colon > 0 && stage.key().equals(text.substring(0, colon))) {
        return new Position(
            stage, Optional.of(text.substring(colon + 1)).filter(cursor -> !cursor.isEmpty()));
      }
    }
    throw new InvalidValue("cursor", text, "`next` of the previous page");
  }

  /** The position after a page of a stage; empty at the end of the last stage. */
  static Optional<Position> after(Stage stage, Optional<String> cursor) {
    return cursor
        .map(end -> new Position(stage, Optional.of(end)))
        .or(() -> stage.next().map(next -> new Position(next, Optional.empty())));
  }

  @Override
  public String toString() {
    return stage.key() + ":" + cursor.orElse("");
  }
}
