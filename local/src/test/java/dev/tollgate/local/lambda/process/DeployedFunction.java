package dev.tollgate.local.lambda.process;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.lambda.model.FunctionConfiguration;
import software.amazon.awssdk.services.lambda.model.GetFunctionResponse;
import software.amazon.awssdk.services.lambda.model.SnapStartApplyOn;

/**
 * A function as it is deployed.
 *
 * @param runtime identifier of the runtime, such as {@code java25}
 * @param roleArn the function's role
 * @param variables the environment variables of its configuration
 * @param snapStart whether its versions start from snapshots
 * @param jar its deployment package
 */
public record DeployedFunction(
    String name,
    String arn,
    String runtime,
    String handler,
    String roleArn,
    int memoryMb,
    Duration timeout,
    Map<String, String> variables,
    boolean snapStart,
    Path jar) {

  public DeployedFunction {
    variables = Map.copyOf(variables);
  }

  /** The function that a local cloud describes; the location of its code is a file. */
  public static DeployedFunction of(GetFunctionResponse answer) {
    FunctionConfiguration settings = answer.configuration();
    return new DeployedFunction(
        settings.functionName(),
        settings.functionArn(),
        settings.runtimeAsString(),
        settings.handler(),
        settings.role(),
        settings.memorySize(),
        Duration.ofSeconds(settings.timeout()),
        settings.environment() == null ? Map.of() : settings.environment().variables(),
        settings.snapStart().applyOn() == SnapStartApplyOn.PUBLISHED_VERSIONS,
        Path.of(URI.create(answer.code().location())));
  }

  /** This function without one of its environment variables. */
  public DeployedFunction without(String variable) {
    Map<String, String> others = new TreeMap<>(variables);
    others.remove(variable);
    return with(others);
  }

  /** This function with another environment variable. */
  public DeployedFunction with(String variable, String value) {
    Map<String, String> all = new TreeMap<>(variables);
    all.put(variable, value);
    return with(all);
  }

  /** Whether its invocations are traced: it has the address of the X-Ray daemon. */
  boolean traced() {
    return variables.containsKey("AWS_XRAY_DAEMON_ADDRESS");
  }

  private DeployedFunction with(Map<String, String> others) {
    return new DeployedFunction(
        name, arn, runtime, handler, roleArn, memoryMb, timeout, others, snapStart, jar);
  }
}
