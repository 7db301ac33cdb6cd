package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;

/**
 * One instance of a function's handler. Like an execution environment of Lambda, it serves one
 * invocation at a time and is reused for the next.
 */
public record ExecutionEnvironment(RequestStreamHandler handler) {

  /**
   * The init phase: loads and constructs the handler, through its constructor {@code (Map<String,
   * String> environment, InstantSource clock)} if there is one. Otherwise it uses the constructor
   * without parameters, as Lambda does.
   *
   * @throws ReflectiveOperationException if there is no such class or no such constructor
   * @throws Throwable what the constructor throws
   */
  public static ExecutionEnvironment init(
      FunctionSpec function,
      Map<String, String> environment,
      FunctionClassLoader loader,
      InstantSource clock)
      throws Throwable {
    String className = function.handler().replaceFirst("::handleRequest$", "");
    Class<?> type = Class.forName(className, true, loader);
    try {
      Object handler = construct(type, environment, clock);
      if (handler instanceof RequestStreamHandler stream) {
        return new ExecutionEnvironment(stream);
      }
      if (handler instanceof RequestHandler<?, ?>) {
        return new ExecutionEnvironment(loader.overStreams(handler));
      }
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
    throw new ClassCastException(
        "Class does not implement an appropriate handler interface: " + className);
  }

  /** Invokes the handler with an event and returns its answer. */
  public byte[] handle(byte[] event, Context context) throws Exception {
    ByteArrayOutputStream answer = new ByteArrayOutputStream();
    handler.handleRequest(new ByteArrayInputStream(event), answer, context);
    return answer.toByteArray();
  }

  private static Object construct(
      Class<?> type, Map<String, String> environment, InstantSource clock)
      throws ReflectiveOperationException {
    for (Constructor<?> constructor : type.getConstructors()) {
      if (List.of(constructor.getParameterTypes())
          .equals(List.of(Map.class, InstantSource.class))) {
        return constructor.newInstance(environment, clock);
      }
    }
    return type.getConstructor().newInstance();
  }
}
