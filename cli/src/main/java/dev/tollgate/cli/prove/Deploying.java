package dev.tollgate.cli.prove;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Deploys the stack. */
final class Deploying implements Step {
  private static final List<String> OTHER_OPTIONS =
      List.of(
          "alarmTopic",
          "authorizerConcurrency",
          "connectConcurrency",
          "connectionQuota",
          "jwtAudience",
          "jwtIssuer",
          "jwtTenantClaim",
          "messageHandler",
          "messageHandlerJar",
          "producerConcurrency",
          "socketChecksPerMinute");

  private static final String LOG_ROLE = "accountLogRole";

  @Override
  public String name() {
    return "deploy";
  }

  @Override
  public String description() {
    return "Deploy the stack, without sign-in, alarms and the demo.";
  }

  @Override
  public int cents() {
    return 10;
  }

  @Override
  public Duration usual() {
    return Duration.ofMinutes(8);
  }

  @Override
  public List<Finding> run(Run run) {
    Map<String, String> context = new HashMap<>();
    // The file cdk.context.json has the options of the user's own deployment.
    OTHER_OPTIONS.forEach(option -> context.put(option, ""));
    List.of("eventSchemas", "lab", "probe", "shareCredentials", "tracing")
        .forEach(option -> context.put(option, "false"));
    context.put("claims", "true");
    context.put("prefix", run.settings().prefix());
    context.put("demo", "false");
    context.put("removal", "destroy");
    context.put("consoleSignIn", "false");
    // A deployment that failed may have set the role already.
    boolean sets =
        "set".equals(run.deployed().getOrDefault(run.stackName(), Map.of()).get(LOG_ROLE))
            || !Preflight.hasLogRole(run.stacks().account());
    context.put(LOG_ROLE, sets ? "set" : "keep");
    run.deploy(run.stackName(), context);
    run.controlPlane().get("/tiers").orThrow();
    return List.of(Finding.holds("the stack can be deployed", run.stackName()));
  }
}
