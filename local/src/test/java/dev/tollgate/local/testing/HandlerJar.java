package dev.tollgate.local.testing;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** Makes a deployment package of test classes. */
public final class HandlerJar {

  private HandlerJar() {}

  /**
   * Writes a jar with the class and those nested in it, whose manifest names the jars that the
   * libraries' classes come from.
   */
  public static Path write(Path jar, Class<?> type, Class<?>... libraries) throws IOException {
    List<String> classPath = new ArrayList<>();
    for (Class<?> library : libraries) {
      classPath.add(library.getProtectionDomain().getCodeSource().getLocation().toString());
    }
    Manifest manifest = new Manifest();
    manifest.getMainAttributes().put(Attributes.Name.MANIFEST_VERSION, "1.0");
    manifest.getMainAttributes().put(Attributes.Name.CLASS_PATH, String.join(" ", classPath));
    List<Class<?>> types = new ArrayList<>(List.of(type));
    types.addAll(List.of(type.getDeclaredClasses()));
    try (JarOutputStream out = new JarOutputStream(Files.newOutputStream(jar), manifest)) {
      for (Class<?> each : types) {
        String name = each.getName().replace('.', '/') + ".class";
        out.putNextEntry(new JarEntry(name));
        try (InputStream in = type.getClassLoader().getResourceAsStream(name)) {
          in.transferTo(out);
        }
      }
    }
    return jar;
  }
}
