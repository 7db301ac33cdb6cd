package dev.tollgate.core.testing;

import dev.tollgate.core.Unavailable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Counts calls to ports, and injects a fault or another event at one of them. */
public final class Faults {
  private final List<String> calls = new ArrayList<>();
  private Optional<Fault> fault = Optional.empty();
  private Optional<Supplier<Optional<Fault>>> each = Optional.empty();
  private int at;

  /** A fault or event at one call. */
  public interface Fault {
    @Nullable Object around(Call call) throws Exception;
  }

  /** A call to a port. */
  public interface Call {
    @Nullable Object go() throws Exception;
  }

  /** The call fails without an effect. */
  public static final Fault UNREACHABLE =
      call -> {
        throw new Unavailable("not reached");
      };

  /** The call takes effect, and its answer is lost. */
  public static final Fault ANSWER_LOST =
      call -> {
        call.go();
        throw new Unavailable("no answer");
      };

  /** The process ends before the call. */
  public static final Fault KILLED =
      call -> {
        throw new Killed();
      };

  /** Thrown when the process ends. */
  public static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Runs an action before the call. */
  public static Fault concurrently(Runnable action) {
    return call -> {
      action.run();
      return call.go();
    };
  }

  /** Injects a fault at one future call, numbered from 1. */
  public synchronized void plan(int number, Fault planned) {
    calls.clear();
    at = number;
    fault = Optional.of(planned);
  }

  /** Injects the drawn fault, if any, at each future call. Calls are not recorded. */
  public synchronized void each(Supplier<Optional<Fault>> drawn) {
    each = Optional.of(drawn);
  }

  /** Stops faults, and resets the recorded calls. */
  public synchronized void none() {
    calls.clear();
    fault = Optional.empty();
    each = Optional.empty();
  }

  /** The calls recorded since the last reset. */
  public synchronized List<String> calls() {
    return List.copyOf(calls);
  }

  private synchronized Optional<Fault> next(String call) {
    if (each.isPresent()) {
      return each.get().get();
    }
    calls.add(call);
    Optional<Fault> due = calls.size() == at ? fault : Optional.empty();
    if (due.isPresent()) {
      fault = Optional.empty();
    }
    return due;
  }

  /** Wraps a port so that its calls are counted and may fail. */
  public <T> T around(Class<T> port, T target) {
    return port.cast(
        Proxy.newProxyInstance(
            port.getClassLoader(),
            new Class<?>[] {port},
            (proxy, method, arguments) -> {
              Call call =
                  () -> {
                    try {
                      return method.invoke(target, arguments);
                    } catch (InvocationTargetException thrown) {
                      throw thrown.getCause() instanceof RuntimeException unchecked
                          ? unchecked
                          : thrown;
                    }
                  };
              Optional<Fault> due = next(port.getSimpleName() + "." + method.getName());
              return due.isPresent() ? due.get().around(call) : call.go();
            }));
  }
}
