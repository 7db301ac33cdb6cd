package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * The classes of one function: its jar, the JDK, and from this process only {@code
 * aws-lambda-java-core}, so that a handler and its host share the same {@link Context}. Other
 * classes of this process are invisible to the function. Functions of the same jar share the AWS
 * SDK; all other classes are loaded for each function.
 */
public final class FunctionClassLoader extends URLClassLoader {

  static {
    registerAsParallelCapable();
  }

  private static final String CORE = Context.class.getPackageName() + '.';

  private final SdkClassLoader sdk;
  private final URLClassLoader runtime;

  /**
   * The classes in a jar.
   *
   * @throws IOException if the jar cannot be read
   */
  public FunctionClassLoader(Path jar) throws IOException {
    super(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
    this.sdk = SdkClassLoader.of(jar);
    this.runtime =
        new URLClassLoader(
            new URL[] {location(PojoSerializer.class), location(ObjectHandler.class)},
            ClassLoader.getPlatformClassLoader()) {
          @Override
          protected Class<?> findClass(String name) throws ClassNotFoundException {
            return isCore(name) ? Class.forName(name) : super.findClass(name);
          }
        };
  }

  /** A handler of objects, over streams. */
  RequestStreamHandler overStreams(Object handler) throws ReflectiveOperationException {
    return (RequestStreamHandler)
        runtime
            .loadClass(ObjectHandler.class.getName())
            .getConstructor(RequestHandler.class, ClassLoader.class)
            .newInstance(handler, this);
  }

  @Override
  public void close() throws IOException {
    runtime.close();
    super.close();
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (isCore(name)) {
      return Class.forName(name);
    }
    return SdkClassLoader.isShared(name) ? sdk.loadClass(name) : super.loadClass(name, resolve);
  }

  /**
   * Other artifacts ({@code events}, {@code serialization}) have packages below the package of
   * core.
   */
  private static boolean isCore(String name) {
    return name.startsWith(CORE)
        && (name.indexOf('.', CORE.length()) < 0 || name.startsWith("logging.", CORE.length()));
  }

  private static URL location(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }
}
