package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import com.amazonaws.services.lambda.runtime.serialization.events.LambdaEventSerializers;
import com.amazonaws.services.lambda.runtime.serialization.factories.JacksonFactory;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Type;
import java.net.URL;
import java.net.URLClassLoader;
import org.jspecify.annotations.Nullable;

/**
 * The serializers of the Lambda runtime, loaded separately for each function. They cache types in
 * static fields, so with shared serializers an event class of the same name in a second function
 * would lose members.
 */
public final class EventSerializers implements Closeable {
  private final URLClassLoader runtime;
  private final ClassLoader function;

  /** Serializers for the classes of a function. */
  public EventSerializers(ClassLoader function) {
    this.function = function;
    URL library = PojoSerializer.class.getProtectionDomain().getCodeSource().getLocation();
    this.runtime = new URLClassLoader(new URL[] {library}, ClassLoader.getPlatformClassLoader());
  }

  @Override
  public void close() throws IOException {
    runtime.close();
  }

  /**
   * The serializer that the runtime chooses: its own for AWS events, plain Jackson for other types.
   */
  Serializer serializer(Type type) throws ReflectiveOperationException {
    Class<?> events = runtime.loadClass(LambdaEventSerializers.class.getName());
    boolean supported =
        type instanceof Class<?> event
            && (boolean)
                events
                    .getMethod("isLambdaSupportedEvent", String.class)
                    .invoke(null, event.getName());
    if (supported) {
      return new Serializer(
          events
              .getMethod("serializerFor", Class.class, ClassLoader.class)
              .invoke(null, type, function));
    }
    Class<?> jackson = runtime.loadClass(JacksonFactory.class.getName());
    Object factory = jackson.getMethod("getInstance").invoke(null);
    return new Serializer(jackson.getMethod("getSerializer", Type.class).invoke(factory, type));
  }

  /** A {@link PojoSerializer} that belongs to the function. */
  final class Serializer {
    private final Object serializer;

    private Serializer(Object serializer) {
      this.serializer = serializer;
    }

    @Nullable Object fromJson(InputStream json) throws Exception {
      return invoke(method("fromJson", InputStream.class), json);
    }

    void toJson(@Nullable Object value, OutputStream json) throws Exception {
      var unused = invoke(method("toJson", Object.class, OutputStream.class), value, json);
    }

    private Method method(String name, Class<?>... parameters) throws ReflectiveOperationException {
      return runtime.loadClass(PojoSerializer.class.getName()).getMethod(name, parameters);
    }

    private @Nullable Object invoke(Method method, @Nullable Object... arguments) throws Exception {
      try {
        return method.invoke(serializer, arguments);
      } catch (InvocationTargetException e) {
        throw e.getCause() instanceof Exception cause ? cause : e;
      }
    }
  }
}
