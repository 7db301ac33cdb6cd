package dev.tollgate.local.lambda;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * What Lambda knows about a function.
 *
 * @param name the function's name
 * @param arns the ARNs that invoke it: first its own, then those of its versions and aliases
 * @param jar the deployment package, a jar with everything but the JDK inside
 * @param handler class of the handler, optionally followed by {@code ::handleRequest}
 * @param environment the function's environment variables
 * @param timeout how long one invocation may take, 1 ms to 15 min
 * @param memoryMb memory in megabytes, 128 to 10,240; told to the function, not enforced
 * @param reservedConcurrency concurrent invocations set aside for this function, and its limit
 */
public record FunctionSpec(
    String name,
    List<String> arns,
    Path jar,
    String handler,
    Map<String, String> environment,
    Duration timeout,
    int memoryMb,
    OptionalInt reservedConcurrency) {

  private static final Duration MAX_TIMEOUT = Duration.ofMinutes(15);

  public FunctionSpec {
    if (!name.matches("[a-zA-Z0-9_-]{1,64}")) {
      throw new IllegalArgumentException("name: " + name + " (expected: [a-zA-Z0-9_-]{1,64})");
    }
    if (arns.isEmpty()) {
      throw new IllegalArgumentException("arns: [] (expected: at least the function's own)");
    }
    for (String arn : arns) {
      if (!arn.matches("arn:[^:]+:lambda:[^:]*:[^:]*:function:" + name + "(:[^:]+)?")) {
        throw new IllegalArgumentException(
            "arns: " + arn + " (expected: arn:aws:lambda:…:function:" + name + " or a version)");
      }
    }
    if (handler.isBlank()) {
      throw new IllegalArgumentException("handler: '" + handler + "' (expected: a class name)");
    }
    if (timeout.compareTo(Duration.ZERO) <= 0 || timeout.compareTo(MAX_TIMEOUT) > 0) {
      throw new IllegalArgumentException("timeout: " + timeout + " (expected: > PT0S, <= PT15M)");
    }
    if (memoryMb < 128 || memoryMb > 10_240) {
      throw new IllegalArgumentException("memoryMb: " + memoryMb + " (expected: 128..10240)");
    }
    if (reservedConcurrency.orElse(0) < 0) {
      throw new IllegalArgumentException(
          "reservedConcurrency: " + reservedConcurrency.getAsInt() + " (expected: >= 0)");
    }
    arns = List.copyOf(arns);
    environment = Map.copyOf(environment);
  }
}
