package dev.tollgate.core;

import java.util.List;
import java.util.Optional;

/**
 * A part of a long listing.
 *
 * @param items the part, in the listing's order
 * @param next what to ask the following part with; empty at the end
 * @param unreadable rows of the part that cannot be read; they are not among the items
 */
public record Page<T>(List<T> items, Optional<String> next, List<UnreadableRow> unreadable) {
  /** Copies the lists. */
  public Page {
    items = List.copyOf(items);
    unreadable = List.copyOf(unreadable);
  }

  /** A part whose rows are all readable. */
  public Page(List<T> items, Optional<String> next) {
    this(items, next, List.of());
  }
}
