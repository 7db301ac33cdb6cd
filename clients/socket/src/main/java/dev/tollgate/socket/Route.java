package dev.tollgate.socket;

/** The queue that messages go through. */
public enum Route {
  /** The queue that all tenants share. */
  POOL("PooledSQS"),
  /** The tenant's own queue, if its tier has isolation {@code SILO}. */
  SILO("SiloSQS");

  private final String action;

  Route(String action) {
    this.action = action;
  }

  /** The member {@code action} of a frame. */
  String action() {
    return action;
  }
}
