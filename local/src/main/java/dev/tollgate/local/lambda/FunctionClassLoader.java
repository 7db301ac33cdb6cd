package dev.tollgate.local.lambda;

import com.amazonaws.services.lambda.runtime.Context;
import java.net.MalformedURLException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;

/**
 * The classes of one function: its jar, the JDK, and from this process only {@code
 * aws-lambda-java-core}, so that a handler and its host mean the same {@link Context}. What else is
 * on this process's class path, in whichever version, cannot be seen by the function.
 */
final class FunctionClassLoader extends URLClassLoader {

  static {
    registerAsParallelCapable();
  }

  private static final String CORE = Context.class.getPackageName() + '.';

  FunctionClassLoader(Path jar) throws MalformedURLException {
    super(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    return isCore(name) ? Class.forName(name) : super.loadClass(name, resolve);
  }

  /** Other artifacts ({@code events}, {@code serialization}) have packages below that of core. */
  private static boolean isCore(String name) {
    return name.startsWith(CORE)
        && (name.indexOf('.', CORE.length()) < 0 || name.startsWith("logging.", CORE.length()));
  }
}
