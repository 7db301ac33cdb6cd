package dev.tollgate.local.lambda.runtime;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.LambdaRuntime;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import java.io.IOException;
import java.lang.ref.SoftReference;
import java.lang.reflect.Field;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The classes of one function: its jar, the JDK, and from this process only {@code
 * aws-lambda-java-core}, so that a handler and its host share the same {@link Context}. Other
 * classes of this process are invisible to the function. Functions of the same jar share its AWS
 * SDK and Jackson; all other classes are loaded for each function.
 */
public final class FunctionClassLoader extends URLClassLoader {

  static {
    registerAsParallelCapable();
    logToFunctions();
  }

  private static final String CORE = Context.class.getPackageName() + '.';

  /** Jackson and others, as the serializers of the Lambda runtime contain them. */
  private static final String RELOCATED = "com.amazonaws.lambda.thirdparty.";

  /**
   * The SDK, the libraries whose types are in its API, Jackson, and the logging libraries. Their
   * static fields are caches.
   */
  private static final List<String> SHARED =
      List.of(
          "software.amazon.",
          "org.reactivestreams.",
          "com.fasterxml.jackson.core.",
          "com.fasterxml.jackson.databind.",
          "com.fasterxml.jackson.annotation.",
          "org.slf4j.",
          "org.apache.commons.logging.",
          "org.apache.logging.",
          "ch.qos.logback.");

  private static final Map<Jar, SoftReference<URLClassLoader>> LIBRARIES = new HashMap<>();

  /** A jar as it was when it was loaded. */
  private record Jar(Path path, long size, FileTime modified) {}

  private final Consumer<String> log;
  private final URLClassLoader libraries;
  private final URLClassLoader runtime;

  /**
   * The classes in a jar.
   *
   * @param log receives what they log outside of an invocation's context
   * @throws IOException if the jar cannot be read
   */
  public FunctionClassLoader(Path jar, Consumer<String> log) throws IOException {
    super(new URL[] {jar.toUri().toURL()}, ClassLoader.getPlatformClassLoader());
    this.log = log;
    this.libraries = libraries(jar);
    this.runtime =
        new URLClassLoader(
            new URL[] {location(PojoSerializer.class), location(ObjectHandler.class)},
            ClassLoader.getPlatformClassLoader()) {
          @Override
          protected Class<?> findClass(String name) throws ClassNotFoundException {
            return isCore(name) || name.startsWith(RELOCATED)
                ? Class.forName(name)
                : super.findClass(name);
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

  /**
   * Gives {@link LambdaRuntime} a logger, in the way of AWS's runtime client. All functions of this
   * process share that class. The threads of a function have its class loader as their context's,
   * because they inherit it from the thread that invokes the function.
   */
  private static void logToFunctions() {
    try {
      Field logger = LambdaRuntime.class.getDeclaredField("logger");
      logger.setAccessible(true);
      logger.set(
          null,
          new LambdaLogger() {
            @Override
            public void log(String line) {
              if (Thread.currentThread().getContextClassLoader()
                  instanceof FunctionClassLoader function) {
                function.log.accept(line);
              }
            }

            @Override
            public void log(byte[] line) {
              log(new String(line, StandardCharsets.UTF_8));
            }
          });
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
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
    return SHARED.stream().anyMatch(name::startsWith)
        ? libraries.loadClass(name)
        : super.loadClass(name, resolve);
  }

  /**
   * Other artifacts ({@code events}, {@code serialization}) have packages below the package of
   * core.
   */
  private static boolean isCore(String name) {
    return name.startsWith(CORE)
        && (name.indexOf('.', CORE.length()) < 0 || name.startsWith("logging.", CORE.length()));
  }

  /**
   * The shared classes of a jar, loaded once for all functions of this jar. On AWS each function's
   * process has its own copy. Sharing saves the time to load and compile each copy.
   */
  private static URLClassLoader libraries(Path path) throws IOException {
    Jar jar = new Jar(path.toRealPath(), Files.size(path), Files.getLastModifiedTime(path));
    synchronized (LIBRARIES) {
      LIBRARIES.values().removeIf(reference -> reference.get() == null);
      @Nullable SoftReference<URLClassLoader> known = LIBRARIES.get(jar);
      @Nullable URLClassLoader loader = known == null ? null : known.get();
      if (loader == null) {
        loader =
            new URLClassLoader(
                new URL[] {jar.path().toUri().toURL()}, ClassLoader.getPlatformClassLoader());
        LIBRARIES.put(jar, new SoftReference<>(loader));
      }
      return loader;
    }
  }

  private static URL location(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }
}
