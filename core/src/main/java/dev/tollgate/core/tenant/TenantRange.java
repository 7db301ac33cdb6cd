package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.TenantId;
import java.util.Optional;

/**
 * The tenants whose ids lie in a range. Ids are in the order of their characters.
 *
 * @param after the id before the range; empty if the range has no beginning
 * @param upTo the last id of the range
 */
public record TenantRange(Optional<TenantId> after, TenantId upTo) {
  private static final String SEPARATOR = "..";

  /** The range that {@link #toString} wrote. */
  public static TenantRange parse(String text) {
    int at = text.indexOf(SEPARATOR);
    InvalidValue.unless(at >= 0, "range", text, "two tenant ids around \"..\"");
    return new TenantRange(
        Optional.of(text.substring(0, at)).filter(id -> !id.isEmpty()).map(TenantId::new),
        new TenantId(text.substring(at + SEPARATOR.length())));
  }

  /** Both ids, separated by two dots, which no id contains. */
  @Override
  public String toString() {
    return after.map(TenantId::value).orElse("") + SEPARATOR + upTo;
  }
}
