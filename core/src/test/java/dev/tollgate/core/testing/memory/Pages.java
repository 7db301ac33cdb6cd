package dev.tollgate.core.testing.memory;

import dev.tollgate.core.Page;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/** Pages of in-memory lists. */
final class Pages {
  private Pages() {}

  /** The page after the position {@code cursor}, with at most {@code max} items. */
  static <T> Page<T> of(
      Collection<T> all, Function<T, String> position, Optional<String> cursor, int max) {
    List<T> rest =
        all.stream()
            .filter(item -> position.apply(item).compareTo(cursor.orElse("")) > 0)
            .sorted(Comparator.comparing(position))
            .toList();
    if (rest.size() <= max) {
      return new Page<>(rest, Optional.empty());
    }
    return new Page<>(rest.subList(0, max), Optional.of(position.apply(rest.get(max - 1))));
  }
}
