package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.prove.account.CdkStacks;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Reads the account's settings. Creates nothing. */
final class Preflight implements Step {
  /** Below, the load minute would take the executions of other functions of the account. */
  private static final int ENOUGH_EXECUTIONS = 200;

  @Override
  public String name() {
    return "preflight";
  }

  @Override
  public String description() {
    return "Read the account's settings and quotas, and refuse if a stack of these names exists.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return 0;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Duration.ofSeconds(10);
  }

  @Override
  public List<Finding> run(Run run) {
    Account account = run.stacks().account();
    if (!run.stacks().areLocal()) {
      for (String name : List.of(run.stackName(), run.probeName())) {
        if (AwsAccount.hasStack(account, name)) {
          throw Failure.of(
              "Stack %s exists in account %s, and this run did not create it. Choose another name"
                      .formatted(name, run.account())
                  + " with --prefix, or delete the stack.");
        }
      }
      List<String> others = Teardown.leftOver(run, account);
      if (!others.isEmpty()) {
        throw Failure.of(
            "Names of this run are taken: %s. Choose another --prefix."
                .formatted(String.join(", ", others)));
      }
      if (!AwsAccount.hasStack(account, "CDKToolkit")) {
        throw Failure.of(
            "The CDK cannot deploy to this account and Region yet. Run `npx aws-cdk@%s bootstrap`."
                .formatted(CdkStacks.CDK));
      }
    }
    List<Finding> findings = new ArrayList<>();
    findings.add(concurrency(account));
    findings.add(
        Finding.holds(
            "API Gateway may write access logs",
            logRole(account).isPresent()
                ? "the account has a role for it"
                : "the stack sets a role for the account, which stays"));
    return findings;
  }

  /** The ARN of the role with which API Gateway writes logs; empty if the account has none. */
  static Optional<String> logRole(Account account) {
    return Json.text(
        account.api("apigateway").get("/account").orThrow().json(), "cloudwatchRoleArn");
  }

  private static Finding concurrency(Account account) {
    JsonNode settings = account.api("lambda").get("/2016-08-19/account-settings").orThrow().json();
    int executions = settings.path("AccountLimit").path("ConcurrentExecutions").asInt();
    return Finding.of(
        executions >= ENOUGH_EXECUTIONS,
        "the account may run %d functions at once".formatted(ENOUGH_EXECUTIONS),
        String.valueOf(executions),
        "request 1,000 concurrent executions from AWS before clients come (docs/reference/quotas.md)");
  }
}
