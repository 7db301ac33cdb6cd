package dev.tollgate.core;

import java.util.List;
import java.util.Optional;

/**
 * A part of a long listing.
 *
 * @param items the part, in the listing's order
 * @param next what to ask the following part with; empty at the end
 */
public record Page<T>(List<T> items, Optional<String> next) {
  /** Copies the items. */
  public Page {
    items = List.copyOf(items);
  }
}
