package dev.tollgate.local.lambda.process;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.api.client.AWSLambda;
import com.amazonaws.services.lambda.runtime.serialization.PojoSerializer;
import dev.tollgate.local.endpoint.AccessKey;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.jar.JarFile;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import software.amazon.awssdk.utilslite.SdkInternalThreadLocal;

/**
 * Lambda's Java runtime on this machine: AWS's runtime interface client with the options of the
 * managed runtime, the function's package, and its environment variables and no others.
 *
 * @see <a
 *     href="https://github.com/aws/aws-lambda-java-libs/tree/main/aws-lambda-java-runtime-interface-client">AWS
 *     Lambda Java Runtime Interface Client</a>
 */
public final class LambdaRuntime {
  private static final String CLIENT = AWSLambda.class.getPackageName();

  private final Path directory;
  private final Account account;
  private final Path nativeLibrary;
  private final Map<Path, Path> roots = new HashMap<>();
  private int started;

  /**
   * What a function has from its account.
   *
   * @param endpoint the endpoint of all services
   */
  public record Account(String region, URI endpoint) {}

  /**
   * A runtime.
   *
   * @param directory an empty directory for packages and logs
   * @throws IllegalStateException except on Linux, since AWS's client has native code
   */
  public LambdaRuntime(Path directory, Account account) throws IOException {
    this.directory = directory;
    this.account = account;
    this.nativeLibrary = directory.resolve("libaws-lambda-jni.so");
    // Else each process unpacks the library to the same file of the system's temporary directory.
    try (InputStream library = AWSLambda.class.getResourceAsStream("/jni/" + nativeLibraryName())) {
      Files.copy(library, nativeLibrary);
    }
  }

  private static String nativeLibraryName() {
    if (!System.getProperty("os.name").equals("Linux")) {
      throw new IllegalStateException(
          "os.name: "
              + System.getProperty("os.name")
              + " (expected: Linux, for which the runtime interface client has native code)");
    }
    String processor = System.getProperty("os.arch").equals("aarch64") ? "aarch_64" : "x86_64";
    String system =
        Files.exists(Path.of("/lib/ld-musl-" + processor.replace("aarch_", "aarch") + ".so.1"))
            ? "linux_musl"
            : "linux";
    return "libaws-lambda-jni." + system + "-" + processor + ".so";
  }

  /**
   * Starts a function and waits for the end of its init phase, also if that fails.
   *
   * @param credentials of the function's role: at the endpoint of its container if it starts from a
   *     snapshot, and else in variables
   */
  public FunctionProcess start(Jdk jdk, DeployedFunction function, AccessKey credentials)
      throws IOException {
    RuntimeApi api = new RuntimeApi(function, credentials);
    Path task = taskRoot(function.jar());
    Path output = directory.resolve(function.name() + "-" + started++ + ".log");
    ProcessBuilder builder =
        new ProcessBuilder(command(jdk, function))
            .directory(task.toFile())
            .redirectErrorStream(true)
            .redirectOutput(output.toFile());
    Map<String, String> environment = builder.environment();
    environment.clear();
    environment.putAll(function.variables());
    environment.putAll(reserved(function, task));
    environment.put("AWS_LAMBDA_RUNTIME_API", api.address());
    environment.put("AWS_ENDPOINT_URL", account.endpoint().toString());
    environment.putAll(
        function.snapStart() ? api.containerCredentials() : credentials.environment());
    return new FunctionProcess(builder.start(), api, output);
  }

  /** The command line of the managed runtime, as functions that list processes have printed it. */
  private List<String> command(Jdk jdk, DeployedFunction function) {
    return List.of(
        jdk.java().toString(),
        "-XX:MaxHeapSize=" + function.memoryMb() * 1024L * 85 / 100 + "k",
        "-XX:+UseSerialGC",
        "-Xshare:auto",
        "-XX:+TieredCompilation",
        "-XX:TieredStopAtLevel=1",
        "--add-opens=java.base/java.io=ALL-UNNAMED",
        "-Dorg.crac.Core.Compat=com.amazonaws.services.lambda.crac",
        "-XX:+ErrorFileToStderr",
        "-D" + CLIENT + ".runtimeapi.NativeClient.JNI=" + nativeLibrary,
        "-classpath",
        Stream.of(
                Context.class, AWSLambda.class, PojoSerializer.class, SdkInternalThreadLocal.class)
            .map(LambdaRuntime::location)
            .collect(Collectors.joining(File.pathSeparator)),
        AWSLambda.class.getName(),
        function.handler());
  }

  /**
   * The variables that Lambda sets.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/dg/configuration-envvars.html#configuration-envvars-runtime">Defined
   *     runtime environment variables</a>
   */
  private Map<String, String> reserved(DeployedFunction function, Path task) {
    Map<String, String> variables = new TreeMap<>();
    variables.put("_HANDLER", function.handler());
    variables.put("AWS_DEFAULT_REGION", account.region());
    variables.put("AWS_EXECUTION_ENV", "AWS_Lambda_" + function.runtime());
    variables.put("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", Integer.toString(function.memoryMb()));
    variables.put("AWS_LAMBDA_FUNCTION_NAME", function.name());
    variables.put("AWS_LAMBDA_FUNCTION_VERSION", function.snapStart() ? "1" : "$LATEST");
    variables.put(
        "AWS_LAMBDA_INITIALIZATION_TYPE", function.snapStart() ? "snap-start" : "on-demand");
    variables.put("AWS_LAMBDA_LOG_GROUP_NAME", "/aws/lambda/" + function.name());
    variables.put("AWS_LAMBDA_LOG_STREAM_NAME", "local");
    variables.put("AWS_REGION", account.region());
    variables.put("LAMBDA_RUNTIME_DIR", "/var/runtime");
    variables.put("LAMBDA_TASK_ROOT", task.toString());
    variables.put("LANG", "en_US.UTF-8");
    variables.put("PATH", "/usr/local/bin:/usr/bin:/bin");
    variables.put("TZ", ":UTC");
    return variables;
  }

  /**
   * The root directory of a function. Lambda unpacks a jar there. Here the jar is in the directory
   * {@code lib}, whose jars the client adds to its class path as well: some ten thousand files take
   * seconds to unpack and to delete.
   *
   * @throws IllegalArgumentException if the jar has classes for certain versions of Java, which do
   *     not count once it is unpacked
   */
  private Path taskRoot(Path jar) throws IOException {
    Path known = roots.get(jar);
    if (known != null) {
      return known;
    }
    try (JarFile file = new JarFile(jar.toFile())) {
      if (file.isMultiRelease()) {
        throw new IllegalArgumentException(jar + ": a multi-release jar (expected: none)");
      }
    }
    Path root = directory.resolve("task-" + roots.size());
    Path lib = Files.createDirectories(root.resolve("lib"));
    Files.copy(jar, lib.resolve("function.jar"));
    roots.put(jar, root);
    return root;
  }

  private static String location(Class<?> type) {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(type.getName(), e);
    }
  }
}
