package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.account.AwsAccount;
import dev.tollgate.cli.verify.Deployment;
import dev.tollgate.cli.verify.HttpDeployment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Revokes the active sessions of the roles of tenants, as the console of AWS does: an inline policy
 * denies everything to credentials that were issued before an instant. Functions keep a tenant's
 * credentials, so each of them meets a denial once, and must then request others.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_revoke-sessions.html">Revoke
 *     IAM role temporary security credentials</a>
 */
final class Revocation {
  private static final String POLICY = "TollgateProveRevocation";

  /**
   * The functions that a new session and its handshake pass through with a tenant's credentials.
   */
  private static final int FUNCTIONS = 3;

  private static final int ADMISSIONS = 3;
  private static final int ATTEMPTS = 10;
  private static final Duration FIRST_FILLS = Duration.ofMinutes(2);

  /** IAM's policies reach all services after some seconds. */
  private static final Duration ROUND = Duration.ofSeconds(5);

  private static final int ROUNDS = 24;
  private static final int ADMITTED = 101;
  private static final String CREDENTIALS =
      "aws/src/main/java/dev/tollgate/aws/credentials/DeniedSessions.java";
  private static final String OLD = "revoked sessions of a tenant's role are denied";
  private static final String NEW =
      "after a revocation, a new session of a tenant's role is allowed";
  private static final String SERVICE =
      "a revocation costs each function one request of a tenant, and no outage";

  private final Run run;
  private final String tenant;

  Revocation(Run run, String tenant) {
    this.run = run;
    this.tenant = tenant;
  }

  /**
   * Revokes the sessions, tries what still works, and removes the policies.
   *
   * @param session requests credentials of the tenant's role
   * @param read reads a row of the tenant with credentials
   */
  List<Finding> findings(Supplier<Account> session, Function<Account, Response> read) {
    HttpDeployment deployment = run.deployment();
    // The session wakes the tenant, whose buckets are then filled once a minute.
    deployment.sessions("PUT", tenant, Optional.empty()).orThrow();
    run.shell().printError("  Waiting two minutes for the first fills of " + tenant + ".");
    run.shell().sleep(FIRST_FILLS);
    int before = attempt(deployment);
    Account old = session.get();
    Response allowed = read.apply(old);
    List<String> roles = roles(run);
    if (before != ADMITTED || !allowed.succeeded() || roles.isEmpty()) {
      String why =
          "before it, a handshake got %d, a read %d, and %d roles were found"
              .formatted(before, allowed.status(), roles.size());
      return List.of(
          Finding.unknown(OLD, why), Finding.unknown(NEW, why), Finding.unknown(SERVICE, why));
    }
    // Times of issue are whole seconds.
    run.shell().sleep(Duration.ofSeconds(2));
    Instant at = issuedAt(session.get());
    try {
      roles.forEach(role -> revoke(role, at));
      Response denied = read.apply(old);
      for (int round = 0; round < ROUNDS && denied.succeeded(); round++) {
        run.shell().sleep(ROUND);
        denied = read.apply(old);
      }
      List<Integer> statuses = new ArrayList<>();
      while (statuses.size() < ATTEMPTS && admitted(statuses) < ADMISSIONS) {
        statuses.add(attempt(deployment));
      }
      return List.of(
          Attacks.denied(OLD, denied, "docs/how-to/repair.md"),
          Attacks.allowed(NEW, read.apply(session.get()), CREDENTIALS),
          Attacks.isDenied(denied)
              ? outcome(statuses)
              : Finding.unknown(SERVICE, "nothing was revoked"));
    } finally {
      undo(run);
    }
  }

  /**
   * What callers noticed: the statuses of a new session and its handshake, tried again and again.
   */
  static Finding outcome(List<Integer> statuses) {
    long refused = statuses.size() - admitted(statuses);
    return Finding.of(
        admitted(statuses) == ADMISSIONS && refused <= FUNCTIONS,
        SERVICE,
        "answers to new sessions and handshakes, in order: " + statuses,
        CREDENTIALS);
  }

  private static long admitted(List<Integer> statuses) {
    return statuses.stream().filter(status -> status == ADMITTED).count();
  }

  /**
   * The status of a new session if it is refused, or else of its handshake; 0 without an answer.
   */
  private int attempt(HttpDeployment deployment) {
    Response created = deployment.sessions("PUT", tenant, Optional.empty());
    if (!created.succeeded()) {
      return created.status();
    }
    String session = created.json().path("sessionId").asText();
    try {
      Deployment.Handshake result =
          deployment
              .handshake(
                  Map.of("tenantId", tenant, "sessionId", session), LoadMinute.Ignored.LISTENER)
              .get();
      if (result instanceof Deployment.Handshake.Admitted admitted) {
        admitted.socket().close();
        return ADMITTED;
      }
      return ((Deployment.Handshake.Refused) result).status();
    } catch (ExecutionException noAnswer) {
      return 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw Failure.of("interrupted", e);
    }
  }

  /** When a session was issued, by the clock of AWS: this machine's may differ by minutes. */
  private static Instant issuedAt(Account session) {
    return session
        .expiresAt()
        .orElseThrow(() -> Failure.of("STS does not say when the credentials expire"))
        .minus(Account.ASSUMED_FOR);
  }

  private void revoke(String role, Instant at) {
    ObjectNode policy = Json.object().put("Version", "2012-10-17");
    ObjectNode statement = policy.putArray("Statement").addObject().put("Effect", "Deny");
    statement.putArray("Action").add("*");
    statement.putArray("Resource").add("*");
    statement
        .putObject("Condition")
        .putObject("DateLessThan")
        .put("aws:TokenIssueTime", at.toString());
    Response answer =
        AwsAccount.iam(
            account(run),
            "PutRolePolicy",
            Map.of("RoleName", role, "PolicyName", POLICY, "PolicyDocument", Json.write(policy)));
    if (!answer.succeeded()) {
      throw Failure.of("IAM refuses PutRolePolicy for %s: %d".formatted(role, answer.status()));
    }
  }

  /**
   * Removes the policies, also those of an attempt that ended early. With one, CloudFormation could
   * not delete the role.
   */
  static void undo(Run run) {
    for (String role : roles(run)) {
      Response answer =
          AwsAccount.iam(
              account(run), "DeleteRolePolicy", Map.of("RoleName", role, "PolicyName", POLICY));
      if (!answer.succeeded() && answer.status() != 404) {
        throw Failure.of(
            "IAM refuses DeleteRolePolicy of %s for %s: %d"
                .formatted(POLICY, role, answer.status()));
      }
    }
  }

  /** The roles of tenants of the stack: a local cloud names them without the suffix. */
  private static List<String> roles(Run run) {
    return AwsAccount.roles(account(run)).stream()
        .filter(name -> name.matches(".*(Tenant|Claims)(Role.*)?"))
        .filter(name -> run.stacks().areLocal() || name.startsWith(run.stackName() + "-"))
        .toList();
  }

  private static Account account(Run run) {
    return run.stacks().account(run.stackName());
  }
}
