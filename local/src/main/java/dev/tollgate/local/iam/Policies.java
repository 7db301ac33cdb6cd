package dev.tollgate.local.iam;

import dev.tollgate.local.endpoint.Principal;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Stream;

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

  /** The actions that the trust policy of a role must allow, too. */
  private static final Set<String> TRUSTED_ACTIONS = Set.of(ASSUME_ROLE, "sts:TagSession");

  private final boolean enforced;
  private final Function<String, Optional<Policy>> ofResources;
  private final Map<String, Role> roles = new ConcurrentHashMap<>();
  private final Map<String, Policy> resources = new ConcurrentHashMap<>();
  private final Set<Permission> permissions = ConcurrentHashMap.newKeySet();
  private final Map<Grant, LongAdder> uses = new ConcurrentHashMap<>();
  private final LongAdder allowed = new LongAdder();
  private final LongAdder denied = new LongAdder();

  /** A role with its trust policy and its own policies. */
  private record Role(String arn, Policy trust, List<Policy> own, Map<String, Policy> inline) {
    private Role(String arn, Policy trust, List<Policy> own) {
      this(arn, trust, own, new ConcurrentHashMap<>());
    }

    private String name() {
      return arn.substring(arn.lastIndexOf('/') + 1);
    }
  }

  /** What {@code AWS::Lambda::Permission} adds to the resource policy of a function. */
  private record Permission(String function, String service, Glob source) {}

  /**
   * Policies without roles.
   *
   * @param enforced whether policies are obeyed; if not, everything is allowed
   * @param ofResources the policy of a resource whose service keeps policies, by its ARN
   */
  public Policies(boolean enforced, Function<String, Optional<Policy>> ofResources) {
    this.enforced = enforced;
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
        for (Glob action : statement.actions()) {
          for (Glob resource : statement.resources()) {
            uses.putIfAbsent(grant(role, action, resource), new LongAdder());
          }
        }
      }
    }
  }

  /** The ARNs of all roles. */
  public Set<String> roles() {
    return Set.copyOf(roles.keySet());
  }

  /**
   * Sets a named policy of a role, beside those of the template, or removes it.
   *
   * @return whether there is such a role, and, to remove it, such a policy
   */
  public boolean setInlinePolicy(String roleArn, String name, Optional<Policy> policy) {
    Role role = roles.get(roleArn);
    if (role == null) {
      return false;
    }
    policy.ifPresent(it -> role.inline().put(name, it));
    return policy.isPresent() || role.inline().remove(name) != null;
  }

  /** Sets the policy of a resource, in addition to those that the resource's service keeps. */
  public void setResourcePolicy(String resourceArn, Policy policy) {
    resources.put(resourceArn, policy);
  }

  /**
   * Allows a service to invoke a function without a role.
   *
   * @param functionArn with a qualifier, that version or alias alone
   * @param service such as {@code apigateway.amazonaws.com}
   * @param source the ARN of the source on whose behalf the service may invoke, perhaps with
   *     wildcards; without it, any source
   */
  public void allowInvocation(String functionArn, String service, Optional<String> source) {
    permissions.add(new Permission(functionArn, service, new Glob(source.orElse("*"))));
  }

  /** Whether a service may invoke a function for a source without a role. */
  public boolean allowsInvocation(String functionArn, String service, String source) {
    return !enforced
        || permissions.stream()
            .anyMatch(
                permission ->
                    permission.function().equals(functionArn)
                        && permission.service().equals(service)
                        && permission.source().matchesArn(source, Context.EMPTY));
  }

  /** Whether a role may be assumed by a service, such as {@code scheduler.amazonaws.com}. */
  public boolean trusts(String roleArn, String service, Context context) {
    return !enforced || trusts("Service:" + service, new Access(ASSUME_ROLE, roleArn, context));
  }

  /** Decides on an access of a principal: the message of AWS if it is denied. */
  public Optional<String> denial(Principal who, Access access) {
    if (!enforced) {
      return Optional.empty();
    }
    Context context =
        access
            .context()
            .with("aws:PrincipalArn", who.roleArn())
            // On AWS the request would use TLS.
            .with("aws:SecureTransport", "true")
            .with("aws:TokenIssueTime", who.issuedAt().map(Instant::toString).stream().toList())
            .withTags("aws:PrincipalTag/", who.sessionTags().entrySet());
    Optional<String> reason = reason(who, access.in(context));
    (reason.isEmpty() ? allowed : denied).increment();
    return reason.map(
        why ->
            "User: %s is not authorized to perform: %s on resource: %s %s"
                .formatted(who.assumedRoleArn(), access.action(), access.resource(), why));
  }

  private Optional<String> reason(Principal who, Access access) {
    Role role = roles.get(who.roleArn());
    if (role == null) {
      return noPolicyAllows("identity-based", access);
    }
    String caller = "AWS:" + role.arn();
    List<Statement> ofResource =
        Stream.concat(
                ofResources.apply(access.resource()).stream(),
                Optional.ofNullable(resources.get(access.resource())).stream())
            .flatMap(policy -> policy.statementsFor(caller).stream())
            .toList();
    List<Statement> own =
        Stream.concat(role.own().stream(), role.inline().values().stream())
            .flatMap(policy -> policy.statements().stream())
            .toList();
    if (Statement.match(false, own, access).isPresent()) {
      return Optional.of("with an explicit deny in an identity-based policy");
    }
    if (Statement.match(false, ofResource, access).isPresent()) {
      return Optional.of("with an explicit deny in a resource-based policy");
    }
    Optional<Statement.Match> match = Statement.match(true, own, access);
    if (match.isEmpty() && Statement.match(true, ofResource, access).isEmpty()) {
      return noPolicyAllows("identity-based", access);
    }
    if (TRUSTED_ACTIONS.contains(access.action()) && !trusts(caller, access)) {
      return noPolicyAllows("trust", access);
    }
    match
        .map(found -> uses.get(grant(role, found.action(), found.resource())))
        .ifPresent(LongAdder::increment);
    return Optional.empty();
  }

  /** How often each grant allowed an access. */
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

  /** A trust policy that names the account ({@code …:root}) trusts all principals of it. */
  private boolean trusts(String caller, Access access) {
    String account = caller.replaceFirst("(:iam::[0-9]+):.*", "$1:root");
    List<Statement> trust =
        Optional.ofNullable(roles.get(access.resource())).stream()
            .flatMap(role -> Stream.of(caller, account).map(role.trust()::statementsFor))
            .flatMap(List::stream)
            .toList();
    return Statement.match(true, trust, access).isPresent()
        && Statement.match(false, trust, access).isEmpty();
  }

  private static Grant grant(Role role, Glob action, Glob resource) {
    return new Grant(role.name(), action.text(), resource.text());
  }

  private static Optional<String> noPolicyAllows(String kind, Access access) {
    return Optional.of("because no " + kind + " policy allows the " + access.action() + " action");
  }
}
