package dev.tollgate.local.lambda.runtime;

import java.io.IOException;
import java.lang.ref.SoftReference;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The AWS SDK in a jar, loaded once for all functions of this jar. On AWS each function's process
 * has its own copy. Sharing saves the time to load and compile each copy; the SDK has no state that
 * clients share.
 */
final class SdkClassLoader extends URLClassLoader {

  static {
    registerAsParallelCapable();
  }

  /**
   * The SDK, the libraries whose types are in its API, and the logging libraries with their back
   * ends.
   */
  private static final List<String> PACKAGES =
      List.of(
          "software.amazon.",
          "org.reactivestreams.",
          "org.slf4j.",
          "org.apache.commons.logging.",
          "org.apache.logging.",
          "ch.qos.logback.");

  private static final Map<Jar, SoftReference<SdkClassLoader>> LOADED = new HashMap<>();

  private SdkClassLoader(URL jar) {
    super(new URL[] {jar}, ClassLoader.getPlatformClassLoader());
  }

  /**
   * The loader of this jar.
   *
   * @throws IOException if the jar cannot be read
   */
  static SdkClassLoader of(Path path) throws IOException {
    Jar jar = new Jar(path.toRealPath(), Files.size(path), Files.getLastModifiedTime(path));
    synchronized (LOADED) {
      LOADED.values().removeIf(reference -> reference.get() == null);
      @Nullable SoftReference<SdkClassLoader> known = LOADED.get(jar);
      @Nullable SdkClassLoader loader = known == null ? null : known.get();
      if (loader == null) {
        loader = new SdkClassLoader(jar.path().toUri().toURL());
        LOADED.put(jar, new SoftReference<>(loader));
      }
      return loader;
    }
  }

  /** Whether functions share a class. */
  static boolean isShared(String className) {
    return PACKAGES.stream().anyMatch(className::startsWith);
  }

  /** A jar as it was when it was loaded. */
  private record Jar(Path path, long size, FileTime modified) {}
}
