package dev.tollgate.local.iam;

import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.iam.Decision.Allowed;
import dev.tollgate.local.iam.Decision.Denied;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * Evaluates the policies of roles and resources. A statement that denies is decisive; without one,
 * a statement must allow.
 *
 * <p>To assume a role, its trust policy and the caller's own policies must both allow it. On AWS
 * the trust policy suffices if it names a role of the same account.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_evaluation-logic.html">Policy
 *     evaluation logic</a>
 */
public final class Policies {
  private static final String ASSUME_ROLE = "sts:AssumeRole";

  private final Function<String, Optional<Policy>> ofResources;
  private final Map<String, Role> roles = new ConcurrentHashMap<>();
  private final Map<Grant, LongAdder> uses = new ConcurrentHashMap<>();
  private final LongAdder allowed = new LongAdder();
  private final LongAdder denied = new LongAdder();

  /** A role: who may assume it, and what it may do. */
  private record Role(String arn, Policy trust, List<Policy> own) {
    private String name() {
      return arn.substring(arn.lastIndexOf('/') + 1);
    }
  }

  /**
   * Policies without roles.
   *
   * @param ofResources the policy of a resource, by its ARN
   */
  public Policies(Function<String, Optional<Policy>> ofResources) {
    this.ofResources = ofResources;
  }

  /** Adds a role without permissions. */
  public void addRole(String arn, Policy trust) {
    roles.put(arn, new Role(arn, trust, new CopyOnWriteArrayList<>()));
  }

  /** Adds a role with all permissions, which cannot be assumed. */
  public void addAdministrator(String arn) {
    roles.put(arn, new Role(arn, new Policy(List.of()), List.of(Policy.ADMINISTRATOR)));
  }

  /** Whether a principal has all permissions. */
  public boolean isAdministrator(Principal who) {
    Role role = roles.get(who.roleArn());
    return role != null && role.own().contains(Policy.ADMINISTRATOR);
  }

  /**
   * Adds a policy to a role.
   *
   * @throws IllegalArgumentException if there is no such role
   */
  public void attach(String roleArn, Policy policy) {
    Role role = roles.get(roleArn);
    if (role == null) {
      throw new IllegalArgumentException("role: " + roleArn + " (expected: one that was added)");
    }
    role.own().add(policy);
    for (Statement statement : policy.statements()) {
      if (statement.allows()) {
        statement
            .actions()
            .forEach(
                action ->
                    statement
                        .resources()
                        .forEach(
                            resource ->
                                uses.putIfAbsent(grant(role, action, resource), new LongAdder())));
      }
    }
  }

  /** Whether a role may be assumed by a service. */
  public boolean trusts(String roleArn, Caller.Service service, Context context) {
    return trusts(roleArn, service, Access.to(ASSUME_ROLE, roleArn), context);
  }

  /** Decides on an access of a principal. */
  public Decision decide(Principal who, Access access) {
    Context context =
        access
            .context()
            .and(
                Context.EMPTY
                    .with("aws:PrincipalArn", who.roleArn())
                    // Loopback stands for what would be TLS.
                    .with("aws:SecureTransport", "true")
                    .withTags("aws:PrincipalTag/", who.sessionTags()));
    Decision decision = decide(who, access, context);
    (decision instanceof Allowed ? allowed : denied).increment();
    return decision;
  }

  private Decision decide(Principal who, Access access, Context context) {
    Role role = roles.get(who.roleArn());
    if (role == null) {
      return denial(who, access, "because no identity-based policy allows the %s action");
    }
    Caller caller = new Caller.Role(role.arn());
    List<Statement> ofResource =
        ofResources.apply(access.resource()).stream()
            .flatMap(policy -> policy.statements().stream())
            .filter(statement -> statement.isAbout(caller))
            .toList();
    List<Statement> own =
        role.own().stream().flatMap(policy -> policy.statements().stream()).toList();
    if (matches(false, own, access, context).isPresent()) {
      return denial(who, access, "with an explicit deny in an identity-based policy");
    }
    if (matches(false, ofResource, access, context).isPresent()) {
      return denial(who, access, "with an explicit deny in a resource-based policy");
    }
    Optional<Statement.Match> match = matches(true, own, access, context);
    if (match.isEmpty() && matches(true, ofResource, access, context).isEmpty()) {
      return denial(who, access, "because no identity-based policy allows the %s action");
    }
    if (access.action().matches("sts:(AssumeRole|TagSession)")
        && !trusts(access.resource(), caller, access, context)) {
      return denial(who, access, "because no trust policy allows the %s action");
    }
    match
        .map(found -> uses.get(grant(role, found.action(), found.resource())))
        .ifPresent(LongAdder::increment);
    return new Allowed();
  }

  /** How often each grant of the roles was what allowed an access. */
  public SortedMap<Grant, Long> uses() {
    SortedMap<Grant, Long> counted = new TreeMap<>();
    uses.forEach((grant, times) -> counted.put(grant, times.sum()));
    return counted;
  }

  /** How many accesses were allowed. */
  public long allowed() {
    return allowed.sum();
  }

  /** How many accesses were denied. */
  public long denied() {
    return denied.sum();
  }

  private boolean trusts(String roleArn, Caller caller, Access access, Context context) {
    Role role = roles.get(roleArn);
    return role != null
        && matches(
                true,
                role.trust().statements().stream().filter(s -> s.isAbout(caller)).toList(),
                access,
                context)
            .isPresent();
  }

  private static Optional<Statement.Match> matches(
      boolean allowing, List<Statement> statements, Access access, Context context) {
    return statements.stream()
        .filter(statement -> statement.allows() == allowing)
        .flatMap(statement -> statement.match(access, context).stream())
        .findFirst();
  }

  private static Grant grant(Role role, Glob action, Glob resource) {
    return new Grant(role.name(), action.text(), resource.text());
  }

  private static Denied denial(Principal who, Access access, String why) {
    return new Denied(
        "User: %s is not authorized to perform: %s on resource: %s %s"
            .formatted(
                who.assumedRoleArn(),
                access.action(),
                access.resource(),
                why.formatted(access.action())));
  }
}
