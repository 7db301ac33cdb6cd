package dev.tollgate.cli.http;

import java.util.regex.Pattern;

/** Paths of the control plane's resources, below its address. */
public final class Paths {
  private static final Pattern SEGMENT = Pattern.compile("[A-Za-z0-9-]+");

  private Paths() {}

  /**
   * The path of a tenant.
   *
   * @throws Failure if no tenant can have this id
   */
  public static String tenant(String tenantId) {
    return "/tenants/" + segment("a tenant id", tenantId);
  }

  /**
   * The path of a tenant's line.
   *
   * @throws Failure if no tenant can have this id
   */
  public static String line(String tenantId) {
    return tenant(tenantId) + "/line";
  }

  /**
   * The path of pushes to a tenant's clients.
   *
   * @throws Failure if no tenant can have this id
   */
  public static String push(String tenantId) {
    return tenant(tenantId) + "/push";
  }

  /**
   * The path of a tier.
   *
   * @throws Failure if no tier can have this name
   */
  public static String tier(String tier) {
    return "/tiers/" + segment("the name of a tier", tier);
  }

  /**
   * The path of the scheduled limits of a tier or a tenant.
   *
   * @param owner the path of the tier or tenant
   */
  public static String schedules(String owner) {
    return owner + "/schedules";
  }

  /**
   * The path of scheduled limits with an id.
   *
   * @param owner the path of the tier or tenant
   * @throws Failure if no scheduled limits can have this id
   */
  public static String schedule(String owner, String id) {
    if (!id.matches("\\d{8}T\\d{4}Z")) {
      throw Failure.usage(
          "`" + id + "` is not the id of scheduled limits (expected: such as 20261127T1700Z).");
    }
    return schedules(owner) + "/" + id;
  }

  /**
   * Refuses names that would have to be encoded. API Gateway decodes a path before it selects the
   * route, so that {@code acme%3Fx} would address the tenant {@code acme}.
   */
  private static String segment(String what, String name) {
    if (!SEGMENT.matcher(name).matches()) {
      throw Failure.usage(
          "`" + name + "` is not " + what + " (expected: lower-case letters, digits and hyphens).");
    }
    return name;
  }
}
