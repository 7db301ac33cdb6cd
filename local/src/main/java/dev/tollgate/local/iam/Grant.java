package dev.tollgate.local.iam;

import java.util.Comparator;

/**
 * A permission in a policy of a role: an action and a resource, as the policy has them.
 *
 * @param role the role's name
 */
public record Grant(String role, String action, String resource) implements Comparable<Grant> {
  private static final Comparator<Grant> ORDER =
      Comparator.comparing(Grant::role).thenComparing(Grant::action).thenComparing(Grant::resource);

  @Override
  public int compareTo(Grant other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return role + " " + action + " " + resource;
  }
}
