package dev.tollgate.cli.http;

/** Paths of the control plane's resources, below its address. */
public final class Paths {
  private Paths() {}

  public static String tenant(String tenantId) {
    return "/tenants/" + Api.encode(tenantId);
  }

  public static String tier(String tier) {
    return "/tiers/" + Api.encode(tier);
  }
}
