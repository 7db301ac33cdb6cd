package dev.tollgate.aws.config;

import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A value that is created at its first use. Thread-safe. */
final class Lazy<T> implements Supplier<T> {
  private final Supplier<T> maker;
  private @Nullable T value;

  Lazy(Supplier<T> maker) {
    this.maker = maker;
  }

  @Override
  public synchronized T get() {
    T made = value;
    if (made == null) {
      made = maker.get();
      value = made;
    }
    return made;
  }
}
