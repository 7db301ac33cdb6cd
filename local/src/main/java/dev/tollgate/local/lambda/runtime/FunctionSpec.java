package dev.tollgate.local.lambda.runtime;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;

/**
 * The definition of a function that is hosted.
 *
 * @param name the function's name
 * @param arns the ARNs that invoke it: first its own, then those of its versions and aliases
 * @param code the deployment package, a jar or zip with everything but the runtime inside
 * @param runtime the runtime's identifier, such as {@code java25} or {@code nodejs22.x}
 * @param handler class of the handler, optionally followed by {@code ::handleRequest}; in Node, a
 *     module and its function
 * @param roleArn the role whose credentials its instances get
 * @param environment the function's environment variables
 * @param timeout how long one invocation may take, 1 ms to 15 min
 * @param memoryMb memory in megabytes, 128 to 10,240; available to the function, not enforced
 * @param reservedConcurrency concurrent invocations reserved for this function, which are also its
 *     limit
 */
public record FunctionSpec(
    String name,
    List<String> arns,
    Path code,
    String runtime,
    String handler,
    String roleArn,
    Map<String, String> environment,
    Duration timeout,
    int memoryMb,
    OptionalInt reservedConcurrency) {

  /** The variable with the address of the X-Ray daemon. */
  public static final String TRACE_DAEMON = "AWS_XRAY_DAEMON_ADDRESS";

  public FunctionSpec {
    arns = List.copyOf(arns);
    environment = Map.copyOf(environment);
  }

  /** Whether it runs in Node. */
  public boolean isOfNode() {
    return runtime.startsWith("nodejs");
  }

  /** Whether its invocations are traced: then it has the address of the X-Ray daemon. */
  public boolean traced() {
    return environment.containsKey(TRACE_DAEMON);
  }
}
