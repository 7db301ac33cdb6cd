package dev.tollgate.league.adapters;

import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Loads a library's classes with one change: they read {@link SimulatedTime} instead of the
 * system's clock. For libraries that have no clock of their own to set.
 */
final class ClockedClasses extends ClassLoader {
  private static final String SIMULATED = SimulatedTime.class.getName().replace('.', '/');

  private final List<String> prefixes;

  /** A loader that changes the classes whose names start with one of these prefixes. */
  ClockedClasses(String... prefixes) {
    super(ClockedClasses.class.getClassLoader());
    this.prefixes = List.of(prefixes);
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    synchronized (getClassLoadingLock(name)) {
      Class<?> loaded = findLoadedClass(name);
      if (loaded != null) {
        return loaded;
      }
      return prefixes.stream().anyMatch(name::startsWith)
          ? changed(name)
          : super.loadClass(name, resolve);
    }
  }

  private Class<?> changed(String name) throws ClassNotFoundException {
    try (InputStream file = getParent().getResourceAsStream(name.replace('.', '/') + ".class")) {
      if (file == null) {
        throw new ClassNotFoundException(name);
      }
      ClassWriter writer = new ClassWriter(0);
      new ClassReader(file).accept(new Clocked(writer), 0);
      byte[] bytes = writer.toByteArray();
      return defineClass(name, bytes, 0, bytes.length);
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  /** Redirects the calls of two methods, wherever a class calls them. */
  private static final class Clocked extends ClassVisitor {
    Clocked(ClassWriter writer) {
      super(Opcodes.ASM9, writer);
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String type, String signature, String[] exceptions) {
      return new MethodVisitor(
          Opcodes.ASM9, super.visitMethod(access, name, type, signature, exceptions)) {
        @Override
        public void visitMethodInsn(
            int opcode, String owner, String method, String descriptor, boolean isInterface) {
          boolean isClock =
              (owner.equals("java/lang/System") || owner.endsWith("/TimeUtil"))
                  && (method.equals("nanoTime") || method.equals("currentTimeMillis"));
          super.visitMethodInsn(
              opcode, isClock ? SIMULATED : owner, method, descriptor, isInterface);
        }
      };
    }
  }
}
