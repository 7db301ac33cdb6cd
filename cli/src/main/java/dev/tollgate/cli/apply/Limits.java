package dev.tollgate.cli.apply;

import java.util.List;
import java.util.Set;

/** The limits that a tier sets and a tenant may override, named as in the control plane's API. */
public final class Limits {
  public static final List<String> NAMES =
      List.of(
          "tenantPerMinute",
          "sessionPerMinute",
          "connectionsPerSession",
          "tenantConnections",
          "sessionTTL",
          "messagesPerMinute",
          "sessionLifetime",
          "sessionsPerSubject");

  /** The limits that have a default value in the control plane, so that a tier may omit them. */
  static final Set<String> OPTIONAL = Set.of("sessionLifetime", "sessionsPerSubject");

  private Limits() {}
}
