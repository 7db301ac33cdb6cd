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
 * @param roleArn the role whose credentials its instances get
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
    String roleArn,
    Map<String, String> environment,
    Duration timeout,
    int memoryMb,
    OptionalInt reservedConcurrency) {

  public FunctionSpec {
    arns = List.copyOf(arns);
    environment = Map.copyOf(environment);
  }
}
