package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.iam.Grant;
import dev.tollgate.local.iam.Policies;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/**
 * Looks back on all end-to-end tests: what the roles of the stack are granted and nothing has
 * needed is granted too much, unless there is a reason. It has something to say only behind the
 * whole suite.
 */
@Order(Integer.MAX_VALUE)
final class GrantsIT {
  /** Why a grant stays that no test here uses. */
  private static final Map<Pattern, String> REASONS =
      Map.of(
          Pattern.compile("\\w+ logs:(CreateLogStream|PutLogEvents) .*"),
          "Lambda writes a function's log with the function's role; here logs go to a file",
          Pattern.compile("ControlPlaneTenant sqs:(Receive|Delete)Message .*_token_bucket"),
          "tokens that a smaller capacity has no room for are taken out",
          Pattern.compile(
              "ControlPlane(Tenant sqs:(Receive|Delete)Message .*:silo_.*"
                  + "| sqs:SendMessage .*:pool_dead.fifo)"),
          "what a silo's function gave up is handed on when the silo goes",
          Pattern.compile("ControlPlaneTenant lambda:Update\\w+ .*"),
          "silos are brought to new code and settings after a deployment",
          Pattern.compile("ControlPlaneTenant sqs:SetQueueAttributes .*:silo_.*"),
          "a silo's queue that somebody has changed is put right",
          Pattern.compile("ControlPlane dynamodb:DeleteItem .*/TablesIdempotency"),
          "the key of a request that came to nothing is free again",
          Pattern.compile("Filling sqs:SendMessage .*:FillingDeadLetters"),
          "what a schedule cannot deliver goes there",
          Pattern.compile("SessionEnd (dynamodb:ListStreams|sqs:SendMessage) .*"),
          "what a mapping of a stream is made with, and where records go that fail for good",
          Pattern.compile("PoolProcessorTenant sqs:SendMessage .*_token_bucket"),
          "the token of a message whose handler fails is put back",
          Pattern.compile("PoolProcessor lambda:InvokeFunction .*"),
          "whoever finds a bucket hibernating wakes it");

  @Test
  void nothing_is_granted_that_is_not_needed() {
    SortedMap<Grant, Long> uses = new TreeMap<>();
    LocalDeployment.policies()
        .forEach(
            policies ->
                policies.uses().forEach((grant, times) -> uses.merge(grant, times, Long::sum)));
    uses.keySet().retainAll(LocalDeployment.shared().cloud().policies().uses().keySet());
    List<Grant> unused =
        uses.keySet().stream()
            .filter(grant -> !isUsed(grant, uses) && reason(grant).isEmpty())
            .toList();
    long allowed = LocalDeployment.policies().stream().mapToLong(Policies::allowed).sum();
    long denied = LocalDeployment.policies().stream().mapToLong(Policies::denied).sum();
    System.out.printf(
        "%,d grants: %,d used, %,d not, with a reason; %,d accesses allowed, %,d refused%n",
        uses.size(),
        uses.keySet().stream().filter(grant -> isUsed(grant, uses)).count(),
        uses.keySet().stream().filter(grant -> !isUsed(grant, uses)).count() - unused.size(),
        allowed,
        denied);

    assertThat(unused).isEmpty();
    assertThat(REASONS.keySet())
        .as("reasons for something that is granted")
        .allMatch(
            reason ->
                uses.keySet().stream()
                    .anyMatch(grant -> reason.matcher(grant.toString()).matches()));
  }

  /**
   * What the control plane begins the sweep ends, with the same grants; who of them gets to
   * something is a matter of time.
   */
  private static boolean isUsed(Grant grant, Map<Grant, Long> uses) {
    return Stream.of(grant, twin(grant)).anyMatch(one -> uses.getOrDefault(one, 0L) > 0);
  }

  private static Grant twin(Grant grant) {
    String role =
        grant.role().startsWith("Sweep")
            ? grant.role().replace("Sweep", "ControlPlane")
            : grant.role().replace("ControlPlane", "Sweep");
    return new Grant(role, grant.action(), grant.resource());
  }

  private static Optional<String> reason(Grant grant) {
    return REASONS.entrySet().stream()
        .filter(
            entry ->
                entry.getKey().matcher(grant.toString()).matches()
                    || entry.getKey().matcher(twin(grant).toString()).matches())
        .map(Map.Entry::getValue)
        .findFirst();
  }
}
