package dev.tollgate.local.threads;

import java.util.concurrent.ThreadFactory;

/**
 * Makes threads that do not keep the JVM alive.
 *
 * @param name the name of every thread
 */
public record DaemonThreads(String name) implements ThreadFactory {
  @Override
  public Thread newThread(Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    return thread;
  }
}
