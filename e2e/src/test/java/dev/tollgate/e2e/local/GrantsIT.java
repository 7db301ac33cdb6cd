package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.iam.Grant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Every permission of the stack's roles is used by an end-to-end test, or has a reason. It runs in
 * a JVM of its own after all other end-to-end tests.
 */
final class GrantsIT {
  /** The reasons for grants that no test uses. */
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
  void every_grant_is_used_or_has_a_reason() throws Exception {
    UsedGrants used = UsedGrants.ofThisBuild();
    SortedMap<Grant, Long> uses = used.times();
    uses.keySet().retainAll(LocalDeployment.shared().cloud().policies().uses().keySet());
    List<Grant> unused =
        uses.keySet().stream()
            .filter(grant -> !isUsed(grant, uses) && reason(grant).isEmpty())
            .toList();
    System.out.printf(
        "%,d grants: %,d used, %,d not, with a reason; %,d accesses allowed, %,d refused%n",
        uses.size(),
        uses.keySet().stream().filter(grant -> isUsed(grant, uses)).count(),
        uses.keySet().stream().filter(grant -> !isUsed(grant, uses)).count() - unused.size(),
        used.allowed(),
        used.denied());

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
