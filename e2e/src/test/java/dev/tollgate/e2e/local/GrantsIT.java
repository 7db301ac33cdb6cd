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
 * An end-to-end test uses every permission of the stack's roles, or a comment here gives the reason
 * why none does. This test runs in a JVM of its own after all other end-to-end tests.
 */
final class GrantsIT {
  /** The reasons for grants that no test uses. */
  private static final Map<Pattern, String> REASONS =
      Map.ofEntries(
          Map.entry(
              Pattern.compile("\\w+ logs:(CreateLogStream|PutLogEvents) .*"),
              "Lambda writes a function's log with the function's role; here logs go to a file"),
          Map.entry(
              Pattern.compile("ControlPlaneTenant dynamodb:GetItem .*TablesSession"),
              "a push to a subject, whom only tokens name; this deployment takes none"),
          Map.entry(
              Pattern.compile("ControlPlaneTenant sqs:(Receive|Delete)Message .*_token_bucket"),
              "a smaller capacity removes surplus tokens"),
          Map.entry(
              Pattern.compile(
                  "ControlPlane(Tenant sqs:(Receive|Delete)Message .*:silo_.*"
                      + "| sqs:SendMessage .*:tollgate_pool_dead.fifo)"),
              "the dead letters of a silo move to the pool before the silo is removed"),
          Map.entry(
              Pattern.compile("ControlPlaneTenant lambda:Update\\w+ .*"),
              "silos get new code and settings after a deployment"),
          Map.entry(
              Pattern.compile("ControlPlaneTenant sqs:SetQueueAttributes .*:silo_.*"),
              "a manually changed queue of a silo is repaired"),
          Map.entry(
              Pattern.compile("ControlPlane dynamodb:DeleteItem .*/TablesIdempotency"),
              "a failed request releases its idempotency key"),
          Map.entry(
              Pattern.compile("TenantPusher dynamodb:DeleteItem .*/TablesIdempotency"),
              "a page that cannot be read releases its key"),
          Map.entry(
              Pattern.compile("TenantPusher execute-api:ManageConnections .*/DELETE/.*"),
              "a socket that reads too slowly is closed"),
          Map.entry(
              Pattern.compile("TenantPusherTenant dynamodb:UpdateItem .*"),
              "a socket that is gone is removed, as the control plane and the processor do"),
          Map.entry(
              Pattern.compile("Filling sqs:SendMessage .*:FillingDeadLetters"),
              "the queue receives inputs that a schedule cannot deliver"),
          Map.entry(
              Pattern.compile(
                  "(AuditEvents|AuditWriter|HistoryWriter|SessionEnd)AllTenants sqs:SendMessage .*"),
              "the queue receives records that fail permanently"),
          Map.entry(
              Pattern.compile("PoolProcessorTenant sqs:SendMessage .*_token_bucket"),
              "the token of a message whose handler fails is returned"),
          Map.entry(
              Pattern.compile("Connect dynamodb:GetItem .*/TablesTier"),
              "a limit refuses a handshake that the authorizer has let through"),
          Map.entry(
              Pattern.compile("PoolProcessor lambda:InvokeFunction .*"),
              "a function that finds a hibernating bucket wakes it"),
          Map.entry(
              Pattern.compile(
                  "(Sweep|HousekeeperAllTenants) lambda:InvokeFunction .*:(Sweep|Housekeeper):live"),
              "a visit of more than 500 tenants asks others to help"),
          Map.entry(
              Pattern.compile(
                  "TokenProducerAllTenants lambda:InvokeFunction .*:TokenProducer:live"),
              "a turn that runs out of time hands over the rest of its shard"));

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
        .as("reasons for existing grants")
        .allMatch(
            reason ->
                uses.keySet().stream()
                    .anyMatch(grant -> reason.matcher(grant.toString()).matches()));
  }

  /**
   * Whether a grant is used by either of two roles: the sweep finishes what the control plane
   * starts, with the same grants, and timing decides which of them makes a request.
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
