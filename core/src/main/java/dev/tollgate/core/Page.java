package dev.tollgate.core;

import java.util.List;
import java.util.Optional;

/**
 * One page of a list.
 *
 * @param items the items, in the order of the list
 * @param next the cursor of the next page; empty on the last page
 * @param unreadable rows of the page that cannot be read; they are not among the items
 */
public record Page<T>(List<T> items, Optional<String> next, List<UnreadableRow> unreadable) {
  /** Copies the lists. */
  public Page {
    items = List.copyOf(items);
    unreadable = List.copyOf(unreadable);
  }

  /**
   * The items, for work that must not skip any.
   *
   * @throws UnreadableRow if a row of the page cannot be read
   */
  public List<T> itemsOrThrow() {
    if (!unreadable.isEmpty()) {
      throw unreadable.get(0);
    }
    return items;
  }

  /** A page whose rows are all readable. */
  public Page(List<T> items, Optional<String> next) {
    this(items, next, List.of());
  }
}
