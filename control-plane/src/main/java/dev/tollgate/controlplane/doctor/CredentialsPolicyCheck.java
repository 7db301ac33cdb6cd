package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.doctor.Finding.Deviation;
import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.provisioning.CredentialsPolicy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Checks whether the policy of the Credentials table still denies what the deployment denies: rows
 * to all principals but the deployed roles, and copies of the table to everybody. Without the
 * policy, administrators can read tenants' credentials. A policy that denies more has no finding.
 */
final class CredentialsPolicyCheck implements Check {
  /** The actions on rows, as the stack denies them. */
  static final List<String> ROWS =
      List.of(
          "BatchGetItem",
          "BatchWriteItem",
          "ConditionCheckItem",
          "DeleteItem",
          "GetItem",
          "PartiQLDelete",
          "PartiQLInsert",
          "PartiQLSelect",
          "PartiQLUpdate",
          "PutItem",
          "Query",
          "Scan",
          "UpdateItem");

  /** The actions that copy the table, as the stack denies them. */
  static final List<String> COPIES =
      List.of(
          "CreateBackup",
          "EnableKinesisStreamingDestination",
          "ExportTableToPointInTime",
          "RestoreTableToPointInTime",
          "UpdateContinuousBackups",
          "UpdateTable");

  private final CredentialsPolicy policy;

  CredentialsPolicyCheck(CredentialsPolicy policy) {
    this.policy = policy;
  }

  @Override
  public List<Finding> findings() {
    Optional<String> document;
    try {
      document = policy.document();
    } catch (Unavailable unavailable) {
      // An administrator can deny the doctor the policy; the report's other findings must still
      // appear.
      return List.of(
          Finding.ofPolicy(
              Deviation.UNCHECKED, name(), "could not be checked: " + unavailable.reason()));
    }
    if (document.isEmpty()) {
      return List.of(finding(Deviation.MISSING, "no policy"));
    }
    PolicyDenials denials = new PolicyDenials(document.get(), policy.table());
    List<String> allowed = new ArrayList<>();
    Map<String, List<String>> exceptions = new TreeMap<>();
    compare(denials, ROWS, policy.roles(), allowed, exceptions);
    compare(denials, COPIES, Set.of(), allowed, exceptions);
    List<String> differences = new ArrayList<>();
    if (!allowed.isEmpty()) {
      differences.add("no denial of " + String.join(", ", allowed));
    }
    exceptions.forEach(
        (principal, actions) ->
            differences.add("%s may %s".formatted(principal, String.join(", ", actions))));
    return differences.isEmpty()
        ? List.of()
        : List.of(finding(Deviation.DIFFERS, String.join("; ", differences)));
  }

  /**
   * Compares the denied actions with those that the deployment denies.
   *
   * @param roles the principals that may use the actions
   * @param allowed receives the actions that are not denied
   * @param exceptions receives the actions of each other principal that may use them
   */
  private static void compare(
      PolicyDenials denials,
      List<String> actions,
      Set<String> roles,
      List<String> allowed,
      Map<String, List<String>> exceptions) {
    for (String action : actions) {
      Optional<Set<String>> principals = denials.exceptions("dynamodb:" + action);
      if (principals.isEmpty()) {
        allowed.add(action);
      }
      Set<String> others = new TreeSet<>(principals.orElse(Set.of()));
      others.removeAll(roles);
      others.forEach(
          principal -> exceptions.computeIfAbsent(principal, any -> new ArrayList<>()).add(action));
    }
  }

  private String name() {
    return policy.table().substring(policy.table().lastIndexOf('/') + 1);
  }

  private Finding finding(Deviation deviation, String actual) {
    return Finding.ofPolicy(
        deviation,
        name(),
        actual
            + " (expected: rows denied to all principals but the deployment's %d roles, copies denied to everybody)"
                .formatted(policy.roles().size()));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A control plane that could change the policy could also read the credentials.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return findings.stream()
        .<ReconcileOutcome>map(
            finding ->
                new ReconcileOutcome.Pending(
                    List.of(
                        finding.deviation() == Deviation.UNCHECKED
                            ? "run doctor again; if permission is denied, find the policy that denies the function ControlPlane dynamodb:GetResourcePolicy"
                            : "put the policy back by hand, because `cdk deploy` sees no change: docs/how-to/repair.md, section Policy of the Credentials table")))
        .toList();
  }
}
