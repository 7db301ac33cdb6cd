package dev.tollgate.local.rest;

import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A page of a list.
 *
 * @param next the position of the last item, if others follow; the next page begins after it
 */
public record Page<T>(List<T> items, Optional<String> next) {
  /**
   * The first items after a position.
   *
   * @param all the items in the order of their positions
   * @param after the position; empty for the first page
   */
  public static <T> Page<T> of(
      Stream<T> all, Function<T, String> position, Optional<String> after, int limit) {
    List<T> rest =
        all.filter(item -> after.map(last -> position.apply(item).compareTo(last) > 0).orElse(true))
            .limit(limit + 1L)
            .toList();
    return rest.size() <= limit
        ? new Page<>(rest, Optional.empty())
        : new Page<>(rest.subList(0, limit), Optional.of(position.apply(rest.get(limit - 1))));
  }
}
