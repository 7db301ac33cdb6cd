package dev.tollgate.core;

import java.util.concurrent.Executor;

/** An executor whose number of threads can be changed while tasks run and wait. */
public interface ResizableExecutor extends Executor {
  /**
   * Runs at most {@code threads} tasks at a time from now on. Tasks that already run go on.
   *
   * @param threads at least 1
   */
  void resize(int threads);
}
