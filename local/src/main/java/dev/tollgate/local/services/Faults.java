package dev.tollgate.local.services;

import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.SameThreadExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;

/**
 * What goes wrong with calls of AWS APIs on purpose, to see that everything recovers. None unless
 * somebody injects one.
 */
public final class Faults {
  private final List<Injected> injected = new CopyOnWriteArrayList<>();

  /** How a call goes wrong. */
  public sealed interface Fault {
    /** It is answered with an error, and nothing is done. */
    record Refused(int status, String code, String message) implements Fault {}

    /** The connection breaks before anything is done. */
    record Lost() implements Fault {}

    /** It is never answered, and nothing is done: whoever asked gives up in time, or does not. */
    record Hung() implements Fault {}

    /** What was asked for is done, but the connection breaks before the answer. */
    record Unanswered() implements Fault {}

    /** Something happens first; then the connection breaks, and nothing is done. */
    record Interrupted(Runnable by) implements Fault {}
  }

  private static final class Injected implements Injection {
    private final List<Injected> all;
    private final Predicate<Call> calls;
    private final int times;
    private final AtomicInteger struck = new AtomicInteger();
    private final Fault fault;

    private Injected(List<Injected> all, Predicate<Call> calls, int times, Fault fault) {
      this.all = all;
      this.calls = calls;
      this.times = times;
      this.fault = fault;
    }

    private boolean strikes(Call call) {
      return calls.test(call) && struck.getAndUpdate(soFar -> Math.min(soFar + 1, times)) < times;
    }

    @Override
    public int struck() {
      return struck.get();
    }

    @Override
    public void close() {
      all.remove(this);
    }
  }

  /** What has been injected, to be taken away again. */
  public interface Injection extends AutoCloseable {
    /** How many calls it has struck. */
    int struck();

    /** Nothing goes wrong any more for this reason. */
    @Override
    void close();
  }

  /**
   * Injects a fault.
   *
   * @param calls which calls go wrong; asked on many threads
   * @param times how many of them, from now on
   */
  public Injection inject(Predicate<Call> calls, int times, Fault fault) {
    Injected one = new Injected(injected, calls, times, fault);
    injected.add(one);
    return one;
  }

  /** Puts the faults before a handler. */
  HttpHandler before(HttpHandler next) {
    return exchange -> {
      Call call = Call.of(exchange);
      Optional<Fault> fault =
          injected.stream().filter(one -> one.strikes(call)).map(one -> one.fault).findFirst();
      if (fault.isEmpty()) {
        next.handleRequest(exchange);
      } else if (fault.get() instanceof Fault.Refused refused) {
        new ServiceError(refused.status(), refused.code(), refused.message()).sendJson(exchange);
      } else if (fault.get() instanceof Fault.Hung) {
        exchange.dispatch(SameThreadExecutor.INSTANCE, () -> {});
      } else if (fault.get() instanceof Fault.Unanswered) {
        exchange.addResponseCommitListener(Faults::breakOff);
        next.handleRequest(exchange);
      } else {
        if (fault.get() instanceof Fault.Interrupted interrupted) {
          interrupted.by().run();
        }
        breakOff(exchange);
      }
    };
  }

  static void breakOff(HttpServerExchange exchange) {
    try {
      exchange.getConnection().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
