package dev.tollgate.core.testing;

import dev.tollgate.core.Unavailable;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Counts the calls of ports, and has something go wrong, or something else happen, at one of them.
 */
public final class Faults {
  private final List<String> calls = new ArrayList<>();
  private Optional<Fault> fault = Optional.empty();
  private Optional<Supplier<Optional<Fault>>> each = Optional.empty();
  private int at;

  /** What happens to one call. */
  public interface Fault {
    @Nullable Object around(Call call) throws Exception;
  }

  /** A call that goes to a port. */
  public interface Call {
    @Nullable Object go() throws Exception;
  }

  /** The port does not answer, and did nothing. */
  public static final Fault UNREACHABLE =
      call -> {
        throw new Unavailable("not reached");
      };

  /** The port did what it was asked, and its answer is lost. */
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

  /** The end of a process. */
  public static final class Killed extends Error {
    private static final long serialVersionUID = 1L;
  }

  /** Something else happens before the call. */
  public static Fault meanwhile(Runnable other) {
    return call -> {
      other.run();
      return call.go();
    };
  }

  /** The call of this number, from 1, counted from now on, has this fault. */
  public synchronized void plan(int number, Fault planned) {
    calls.clear();
    at = number;
    fault = Optional.of(planned);
  }

  /** Each call from now on has the fault, if any, that is drawn for it; calls are not kept. */
  public synchronized void each(Supplier<Optional<Fault>> drawn) {
    each = Optional.of(drawn);
  }

  /** Nothing goes wrong from now on; calls are counted anew. */
  public synchronized void none() {
    calls.clear();
    fault = Optional.empty();
    each = Optional.empty();
  }

  /** The calls since they were last counted anew. */
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

  /** A port whose calls pass through here. */
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
