package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Constructor;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One instance of a function's handler. Like an execution environment of Lambda, it serves one
 * invocation at a time and is reused for the next.
 */
public final class ExecutionEnvironment {

  private final RequestStreamHandler handler;

  private ExecutionEnvironment(RequestStreamHandler handler) {
    this.handler = handler;
  }

  /**
   * The init phase: loads and constructs the handler, through its constructor {@code (Map<String,
   * String> environment, InstantSource clock)} if there is one. Otherwise it uses the constructor
   * without parameters, as Lambda does.
   *
   * @throws ReflectiveOperationException if there is no such class or no such constructor
   * @throws Throwable whatever the constructor throws
   */
  public static ExecutionEnvironment init(
      FunctionSpec function,
      Map<String, String> environment,
      ClassLoader loader,
      EventSerializers serializers,
      InstantSource clock)
      throws Throwable {
    String className = function.handler().replaceFirst("::handleRequest$", "");
    Class<?> type = Class.forName(className, true, loader);
    Object handler = construct(type, environment, clock);
    if (handler instanceof RequestStreamHandler stream) {
      return new ExecutionEnvironment(stream);
    }
    if (handler instanceof RequestHandler<?, ?> objects) {
      return new ExecutionEnvironment(overStreams(objects, serializers));
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
      Class<?> type, Map<String, String> environment, InstantSource clock) throws Throwable {
    try {
      for (Constructor<?> constructor : type.getConstructors()) {
        if (List.of(constructor.getParameterTypes())
            .equals(List.of(Map.class, InstantSource.class))) {
          return constructor.newInstance(environment, clock);
        }
      }
      return type.getConstructor().newInstance();
    } catch (InvocationTargetException e) {
      throw e.getCause() == null ? e : e.getCause();
    }
  }

  @SuppressWarnings("unchecked") // its types are those that the event is read as
  private static RequestStreamHandler overStreams(
      RequestHandler<?, ?> handler, EventSerializers serializers)
      throws ReflectiveOperationException {
    List<Type> types =
        argumentsOf(RequestHandler.class, handler.getClass())
            .orElseThrow(
                () ->
                    new ClassCastException(
                        "Class "
                            + handler.getClass().getName()
                            + " does not implement RequestHandler with concrete type parameters"));
    EventSerializers.Serializer in = serializers.serializer(types.get(0));
    EventSerializers.Serializer out = serializers.serializer(types.get(1));
    return (InputStream event, java.io.OutputStream answer, Context context) -> {
      try {
        out.toJson(
            ((RequestHandler<Object, ?>) handler).handleRequest(in.fromJson(event), context),
            answer);
      } catch (IOException | RuntimeException e) {
        throw e;
      } catch (Exception e) {
        throw new IllegalStateException("the serializers throw no other", e);
      }
    };
  }

  /**
   * The type arguments that {@code type} gives to the generic interface {@code wanted}, directly or
   * through supertypes whose own type parameters are filled in on the way.
   */
  private static Optional<List<Type>> argumentsOf(Class<?> wanted, Type type) {
    Class<?> raw =
        type instanceof ParameterizedType generic
            ? (Class<?>) generic.getRawType()
            : (Class<?>) type;
    List<Type> supertypes = new ArrayList<>(List.of(raw.getGenericInterfaces()));
    if (raw.getGenericSuperclass() != null) {
      supertypes.add(raw.getGenericSuperclass());
    }
    for (Type supertype : supertypes) {
      Optional<List<Type>> found =
          supertype instanceof ParameterizedType generic && generic.getRawType() == wanted
              ? Optional.of(List.of(generic.getActualTypeArguments()))
              : argumentsOf(wanted, supertype);
      if (found.isPresent()) {
        return found.map(types -> types.stream().map(t -> resolve(t, raw, type)).toList());
      }
    }
    return Optional.empty();
  }

  /** A type variable of {@code raw}, as {@code type} fills it in, or else its bound. */
  private static Type resolve(Type argument, Class<?> raw, Type type) {
    if (!(argument instanceof TypeVariable<?> variable)) {
      return argument;
    }
    return type instanceof ParameterizedType generic
        ? generic.getActualTypeArguments()[List.of(raw.getTypeParameters()).indexOf(variable)]
        : variable.getBounds()[0];
  }
}
