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

  static final String NAME = "deploy";

  private static final String LOG_ROLE = "accountLogRole";
  private static final String SET = "set";

  /** Whether the stack sets the account's role for logs, or has done so in an earlier attempt. */
  static boolean setsLogRole(Run run) {
    return SET.equals(run.deployed().getOrDefault(run.stackName(), Map.of()).get(LOG_ROLE))
        || Preflight.logRole(run.stacks().account()).isEmpty();
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public String description() {
    return "Deploy the stack, without sign-in, alarms and the demo.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 10;
  }

  @Override
  public Duration usual(Run.Settings settings) {
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
    context.put(LOG_ROLE, setsLogRole(run) ? SET : "keep");
    run.deploy(run.stackName(), context);
    run.controlPlane().get("/tiers").orThrow();
    return List.of(Finding.holds("the stack can be deployed", run.stackName()));
  }
}
