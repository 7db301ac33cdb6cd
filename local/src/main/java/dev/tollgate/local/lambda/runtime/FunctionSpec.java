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
 * @param jar the deployment package, a jar with everything but the JDK inside
 * @param handler class of the handler, optionally followed by {@code ::handleRequest}
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
    Path jar,
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

  /** Whether its invocations are traced: then it has the address of the X-Ray daemon. */
  public boolean traced() {
    return environment.containsKey(TRACE_DAEMON);
  }
}
