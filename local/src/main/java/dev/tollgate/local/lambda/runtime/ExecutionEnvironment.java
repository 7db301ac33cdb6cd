package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * One instance of a function. Like an execution environment of Lambda, it serves one invocation at
 * a time and is reused for the next.
 */
public interface ExecutionEnvironment extends AutoCloseable {
  /** Lambda's limit of an init phase. An init that takes longer continues in an invocation. */
  Duration INIT = Duration.ofSeconds(10);

  /** Synchronous request and response, each (Developer Guide, "Lambda quotas"). */
  int MAX_PAYLOAD_BYTES = 6 * 1024 * 1024;

  /**
   * The init phase. A Java handler with the constructor {@code (Map<String, String> environment,
   * InstantSource clock)} is constructed in this process. Others read the environment of their
   * process, so they get one of their own, as do functions in Node.
   *
   * @param log receives what a process prints outside of invocations
   * @throws ReflectiveOperationException if there is no such class
   * @throws Throwable what the constructor throws
   */
  static ExecutionEnvironment init(
      FunctionSpec function,
      Map<String, String> environment,
      FunctionClassLoader loader,
      InstantSource clock,
      Consumer<String> log)
      throws Throwable {
    if (function.isOfNode()) {
      return new RuntimeProcess(
          NodeRuntime.command(),
          NodeRuntime.variables(function, environment),
          log,
          INIT.plus(function.timeout()));
    }
    Class<?> type = type(function.handler(), loader);
    Optional<Constructor<?>> constructor =
        Stream.of(type.getConstructors())
            .filter(
                each ->
                    List.of(each.getParameterTypes())
                        .equals(List.of(Map.class, InstantSource.class)))
            .findFirst();
    if (constructor.isEmpty()) {
      return new RuntimeProcess(
          JavaRuntime.command(function),
          JavaRuntime.variables(function, environment),
          log,
          INIT.plus(function.timeout()));
    }
    return new HandlerInstance(
        constructed(() -> constructor.get().newInstance(environment, clock), loader));
  }

  /** The class of a handler. */
  private static Class<?> type(String handler, ClassLoader loader) throws ClassNotFoundException {
    return Class.forName(handler.replaceFirst("::handleRequest$", ""), true, loader);
  }

  /** The handler of a class that has the constructor without parameters, as Lambda uses it. */
  static HandlerInstance constructed(String handler, FunctionClassLoader loader) throws Throwable {
    Class<?> type = type(handler, loader);
    return new HandlerInstance(constructed(() -> type.getConstructor().newInstance(), loader));
  }

  private static RequestStreamHandler constructed(
      Construction construction, FunctionClassLoader loader) throws Throwable {
    Object handler;
    try {
      handler = construction.run();
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
    if (handler instanceof RequestStreamHandler stream) {
      return stream;
    }
    if (handler instanceof RequestHandler<?, ?>) {
      return loader.overStreams(handler);
    }
    throw new ClassCastException(
        "Class does not implement an appropriate handler interface: "
            + handler.getClass().getName());
  }

  /** Constructs a handler. */
  interface Construction {
    /** Returns the handler. */
    Object run() throws ReflectiveOperationException;
  }

  /**
   * Invokes the handler with an event and returns its answer.
   *
   * @throws FunctionError if a function in a process of its own fails
   * @throws Exception what a handler in this process throws
   */
  byte[] handle(byte[] event, Context context) throws Exception;

  /** Whether it can serve another invocation. */
  boolean isAlive();

  @Override
  void close();
}
