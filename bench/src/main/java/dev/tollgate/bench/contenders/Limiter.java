package dev.tollgate.bench.contenders;

/** Decides for one key. Thread-safe. */
@FunctionalInterface
public interface Limiter {
  /**
   * Admits or refuses one caller.
   *
   * @throws RuntimeException if there was no decision
   */
  boolean tryAcquire();
}
