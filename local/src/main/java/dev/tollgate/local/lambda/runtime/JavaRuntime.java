package dev.tollgate.local.lambda.runtime;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;

/**
 * Lambda's runtime for functions in Java, in a JVM of the kind of this process: loads a handler,
 * and serves one invocation after another.
 */
public final class JavaRuntime {
  private final String api;

  private JavaRuntime(String address) {
    api = "http://" + address + "/2018-06-01/runtime/";
  }

  static List<String> command(FunctionSpec function) {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        // As Lambda's runtime does: 15 % are for what is not heap.
        "-XX:MaxHeapSize=" + function.memoryMb() * 1024L * 85 / 100 + "k",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Xshare:auto",
        "-cp",
        System.getProperty("java.class.path"),
        JavaRuntime.class.getName(),
        function.code().toString());
  }

  static Map<String, String> variables(FunctionSpec function, Map<String, String> environment) {
    Map<String, String> variables = new HashMap<>(environment);
    variables.put("_HANDLER", function.handler());
    variables.put("AWS_EXECUTION_ENV", "AWS_Lambda_" + function.runtime());
    variables.put("AWS_LAMBDA_FUNCTION_VERSION", "$LATEST");
    variables.put("TZ", ":UTC");
    return variables;
  }

  /** Serves the function of this process, until its Runtime API closes. */
  public static void main(String[] arguments) throws IOException {
    Map<String, String> variables = System.getenv();
    JavaRuntime runtime = new JavaRuntime(variables.getOrDefault("AWS_LAMBDA_RUNTIME_API", ""));
    FunctionSpec function =
        new FunctionSpec(
            variables.getOrDefault("AWS_LAMBDA_FUNCTION_NAME", ""),
            List.of(),
            Path.of(arguments[0]),
            variables.getOrDefault("AWS_EXECUTION_ENV", "").replace("AWS_Lambda_", ""),
            variables.getOrDefault("_HANDLER", ""),
            "",
            variables,
            Duration.ofMinutes(15),
            Integer.parseInt(variables.getOrDefault("AWS_LAMBDA_FUNCTION_MEMORY_SIZE", "128")),
            OptionalInt.empty());
    ExecutionEnvironment handler;
    try {
      FunctionClassLoader loader = new FunctionClassLoader(function.code(), System.out::println);
      Thread.currentThread().setContextClassLoader(loader);
      handler = ExecutionEnvironment.constructed(function.handler(), loader);
    } catch (Throwable e) {
      e.printStackTrace();
      runtime.post("init/error", error(e));
      return;
    }
    while (true) {
      runtime.serve(function, handler);
    }
  }

  private void serve(FunctionSpec function, ExecutionEnvironment handler) throws IOException {
    HttpURLConnection next = connection("invocation/next");
    byte[] event;
    try (InputStream body = next.getInputStream()) {
      event = body.readAllBytes();
    }
    String id = next.getHeaderField("Lambda-Runtime-Aws-Request-Id");
    long left =
        Long.parseLong(next.getHeaderField("Lambda-Runtime-Deadline-Ms"))
            - System.currentTimeMillis();
    InvocationContext context =
        new InvocationContext(
            function,
            next.getHeaderField("Lambda-Runtime-Invoked-Function-Arn"),
            id,
            Optional.empty(),
            System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(left),
            System.out::println);
    try {
      post("invocation/" + id + "/response", handler.handle(event, context));
    } catch (Throwable e) {
      e.printStackTrace();
      post("invocation/" + id + "/error", error(e));
    }
  }

  private HttpURLConnection connection(String path) throws IOException {
    return (HttpURLConnection) URI.create(api + path).toURL().openConnection();
  }

  private void post(String path, byte[] body) throws IOException {
    HttpURLConnection connection = connection(path);
    connection.setDoOutput(true);
    connection.setFixedLengthStreamingMode(body.length);
    try (OutputStream out = connection.getOutputStream()) {
      out.write(body);
    }
    connection.getResponseCode();
  }

  private static byte[] error(Throwable thrown) {
    ObjectNode error = Json.object();
    error.put("errorMessage", String.valueOf(thrown.getLocalizedMessage()));
    error.put("errorType", thrown.getClass().getName());
    for (StackTraceElement frame : thrown.getStackTrace()) {
      error.withArray("stackTrace").add(frame.toString());
    }
    return error.toString().getBytes(UTF_8);
  }
}
