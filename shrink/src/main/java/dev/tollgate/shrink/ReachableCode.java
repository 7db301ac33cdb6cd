package dev.tollgate.shrink;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.commons.ClassRemapper;
import org.objectweb.asm.commons.MethodRemapper;
import org.objectweb.asm.commons.Remapper;
import org.objectweb.asm.tree.AbstractInsnNode;
import org.objectweb.asm.tree.ClassNode;
import org.objectweb.asm.tree.FieldNode;
import org.objectweb.asm.tree.InvokeDynamicInsnNode;
import org.objectweb.asm.tree.LdcInsnNode;
import org.objectweb.asm.tree.LineNumberNode;
import org.objectweb.asm.tree.MethodInsnNode;
import org.objectweb.asm.tree.MethodNode;

/**
 * The classes that some classes of a jar can reach. A class reaches every class that it names, in
 * code, types, annotations, or a string constant, by which it may be loaded.
 *
 * <p>Two kinds of classes of the AWS SDK name far more than a program reaches, and lose it:
 *
 * <ul>
 *   <li>A service's client has a method for each operation of the service. The operations that
 *       nothing reachable calls are removed.
 *   <li>The table of all services' regions names one class for each. The services without a
 *       reachable client are removed; the SDK uses its defaults for services that are not in the
 *       table.
 * </ul>
 */
final class ReachableCode {
  private static final String SERVICES = "software/amazon/awssdk/services/";
  private static final String REGIONS =
      "software/amazon/awssdk/regions/GeneratedServiceMetadataProvider";

  /** Methods of a client that are no operations. */
  private static final Set<String> NO_OPERATIONS =
      Set.of("close", "serviceName", "serviceClientConfiguration");

  private final Map<String, ClassNode> classes = new TreeMap<>();
  private final Map<String, Set<String>> operations = new TreeMap<>();
  private final Map<String, Set<String>> called = new TreeMap<>();
  private final Set<String> reached = new HashSet<>();
  private final Deque<Runnable> pending = new ArrayDeque<>();
  private final Set<String> endpointPrefixes = new HashSet<>();
  private final Names names = new Names();
  private String visited = "";

  /**
   * Finds what is reachable.
   *
   * @param classFiles the class files of a jar
   * @param roots whether a class, by its internal name, is reachable in any case
   * @param byMethod internal names of final classes whose methods are removed unless called
   */
  ReachableCode(
      Collection<byte[]> classFiles, Predicate<String> roots, Collection<String> byMethod) {
    for (byte[] classFile : classFiles) {
      ClassNode node = new ClassNode();
      new ClassReader(classFile).accept(node, 0);
      classes.put(node.name, node);
    }
    classes.keySet().stream()
        .filter(name -> isClient(name) && classes.containsKey(implementation(name)))
        .forEach(
            client -> {
              Set<String> all = operationsOf(client);
              operations.put(client, all);
              operations.put(implementation(client), all);
            });
    byMethod.stream()
        .filter(classes::containsKey)
        .forEach(name -> operations.put(name, operationsOf(name)));
    classes.keySet().stream().filter(roots).toList().forEach(this::reach);
    drain();
  }

  /** The public methods of objects of a class, except those that every client has. */
  private Set<String> operationsOf(String name) {
    return node(name).methods.stream()
        .filter(method -> (method.access & Opcodes.ACC_STATIC) == 0)
        .filter(method -> (method.access & Opcodes.ACC_PUBLIC) != 0)
        .map(method -> method.name)
        .filter(method -> !method.startsWith("<") && !NO_OPERATIONS.contains(method))
        .collect(Collectors.toSet());
  }

  private ClassNode node(String name) {
    return Objects.requireNonNull(classes.get(name), name);
  }

  private static boolean isClient(String name) {
    return name.startsWith(SERVICES)
        && name.endsWith("Client")
        && !simple(name).startsWith("Default");
  }

  private static String implementation(String client) {
    return client.substring(0, client.lastIndexOf('/') + 1) + "Default" + simple(client);
  }

  private static String simple(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }

  /** Adds the classes that a text file names, one a line, such as the providers of a service. */
  void reachNamesIn(byte[] file) {
    new String(file, StandardCharsets.UTF_8)
        .lines()
        .map(line -> line.replaceFirst("#.*", "").strip().replace('.', '/'))
        .forEach(this::reach);
    drain();
  }

  boolean contains(String name) {
    return reached.contains(name);
  }

  /**
   * The class file of a class, without operations that are not called, and without what only
   * debuggers and compilers read. The SDK's classes lose their line numbers, too.
   */
  byte[] classFile(String name) {
    ClassNode copy = new ClassNode();
    node(name).accept(copy);
    if (name.equals(REGIONS)) {
      copy.methods.stream().filter(method -> method.name.equals("<clinit>")).forEach(this::shorten);
    }
    copy.methods.removeIf(method -> isUnused(name, method));
    copy.innerClasses.removeIf(
        member -> classes.containsKey(member.name) && !contains(member.name));
    copy.invisibleAnnotations = null;
    for (MethodNode method : copy.methods) {
      method.localVariables = null;
      method.invisibleAnnotations = null;
      if (name.startsWith("software/amazon/awssdk/")) {
        List.of(method.instructions.toArray()).stream()
            .filter(LineNumberNode.class::isInstance)
            .forEach(method.instructions::remove);
      }
    }
    ClassWriter writer = new ClassWriter(0);
    copy.accept(writer);
    return writer.toByteArray();
  }

  private boolean isUnused(String owner, MethodNode method) {
    String operation = operationOf(owner, method);
    return !operation.isEmpty() && !called.getOrDefault(owner, Set.of()).contains(operation);
  }

  /** The operation that a method, or a lambda in it, belongs to; otherwise empty. */
  private String operationOf(String owner, MethodNode method) {
    Set<String> all = operations.getOrDefault(owner, Set.of());
    String name = method.name.startsWith("lambda$") ? method.name.split("\\$", 3)[1] : method.name;
    return all.contains(name) ? name : "";
  }

  private void drain() {
    for (Runnable next = pending.poll(); next != null; next = pending.poll()) {
      next.run();
    }
  }

  private void reach(String name) {
    ClassNode node = classes.get(name);
    if (node != null && reached.add(name)) {
      pending.add(() -> visit(node));
    }
  }

  private void visit(ClassNode node) {
    visited = node.name;
    ClassNode always = new ClassNode();
    node.accept(always);
    always.methods.removeIf(
        method ->
            (node.name.equals(REGIONS) && method.name.equals("<clinit>"))
                || isUnused(node.name, method));
    // Lists all member classes that the constant pool names, also those of removed operations.
    always.innerClasses.clear();
    always.accept(new ClassRemapper(new ClassNode(), names));
    always.methods.forEach(this::visitCode);
    for (FieldNode field : node.fields) {
      reachString(field.value);
    }
    if (node.name.startsWith(SERVICES) && simple(node.name).endsWith("BaseClientBuilder")) {
      rememberPrefix(node);
    }
  }

  private void rememberPrefix(ClassNode builder) {
    for (MethodNode method : builder.methods) {
      if (method.name.equals("serviceEndpointPrefix")) {
        for (AbstractInsnNode instruction : method.instructions) {
          if (instruction instanceof LdcInsnNode constant && constant.cst instanceof String text) {
            endpointPrefixes.add(text);
          }
        }
      }
    }
    // The table's entries for this service are code that is reachable from now on.
    ClassNode table = classes.get(REGIONS);
    if (table != null) {
      MethodNode code = shortened(table);
      code.accept(new MethodRemapper(new MethodNode(), names));
    }
  }

  private MethodNode shortened(ClassNode table) {
    ClassNode copy = new ClassNode();
    table.accept(copy);
    MethodNode code =
        copy.methods.stream()
            .filter(method -> method.name.equals("<clinit>"))
            .findFirst()
            .orElseThrow(() -> new IllegalStateException(REGIONS + " has no table"));
    shorten(code);
    return code;
  }

  /** Removes {@code put(name, new Metadata())} for the services that are not reachable. */
  private void shorten(MethodNode table) {
    List<AbstractInsnNode> unused = new ArrayList<>();
    for (AbstractInsnNode at : table.instructions) {
      if (at instanceof LdcInsnNode constant
          && constant.cst instanceof String prefix
          && !endpointPrefixes.contains(prefix)) {
        unused.addAll(entry(at));
      }
    }
    unused.forEach(table.instructions::remove);
  }

  private static List<AbstractInsnNode> entry(AbstractInsnNode key) {
    List<AbstractInsnNode> entry = new ArrayList<>(List.of(key));
    for (int opcode :
        new int[] {Opcodes.NEW, Opcodes.DUP, Opcodes.INVOKESPECIAL, Opcodes.INVOKEVIRTUAL}) {
      @Nullable AbstractInsnNode next = entry.get(entry.size() - 1).getNext();
      while (next != null && next.getOpcode() < 0) {
        next = next.getNext();
      }
      if (next == null || next.getOpcode() != opcode) {
        throw new IllegalStateException(REGIONS + " is not a table of new objects any more");
      }
      entry.add(next);
    }
    return entry;
  }

  private void visitCode(MethodNode method) {
    for (AbstractInsnNode instruction : method.instructions) {
      if (instruction instanceof MethodInsnNode call) {
        call(call.owner, call.name);
      } else if (instruction instanceof LdcInsnNode constant) {
        reachString(constant.cst);
      } else if (instruction instanceof InvokeDynamicInsnNode dynamic) {
        for (Object argument : dynamic.bsmArgs) {
          reachString(argument);
          if (argument instanceof Handle handle) {
            call(handle.getOwner(), handle.getName());
          }
        }
      }
    }
  }

  private void call(String owner, String method) {
    if (operations.getOrDefault(owner, Set.of()).contains(method)) {
      String client = simple(owner).startsWith("Default") ? clientOf(owner) : owner;
      use(client, method);
      if (operations.containsKey(implementation(client))) {
        use(implementation(client), method);
      }
    }
  }

  private static String clientOf(String implementation) {
    return implementation.substring(0, implementation.lastIndexOf('/') + 1)
        + simple(implementation).substring("Default".length());
  }

  private void use(String owner, String operation) {
    if (called.computeIfAbsent(owner, any -> new HashSet<>()).add(operation)) {
      pending.add(
          () ->
              node(owner).methods.stream()
                  .filter(method -> operationOf(owner, method).equals(operation))
                  .toList()
                  .forEach(this::visitOperation));
    }
  }

  private void visitOperation(MethodNode method) {
    visited = "";
    ClassNode alone = new ClassNode();
    alone.name = "Operation";
    alone.methods.add(method);
    alone.accept(new ClassRemapper(new ClassNode(), names));
    visitCode(method);
  }

  private void reachString(@Nullable Object constant) {
    if (constant instanceof String text && text.indexOf('.') > 0) {
      reach(text.replace('.', '/'));
    }
  }

  /** Reaches every class that is named. */
  private final class Names extends Remapper {
    Names() {
      super(Opcodes.ASM9);
    }

    @Override
    public String map(String name) {
      if (!isRequestInEndpoints(name)) {
        reach(name);
      }
      return name;
    }

    /**
     * The endpoint rules of a service have a method for the request of each operation. An operation
     * that is called reaches its request by itself.
     */
    private boolean isRequestInEndpoints(String name) {
      return visited.startsWith(SERVICES)
          && visited.contains("/endpoints/internal/")
          && name.contains("/model/")
          && name.endsWith("Request");
    }
  }
}
