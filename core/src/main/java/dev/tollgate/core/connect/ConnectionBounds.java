package dev.tollgate.core.connect;

import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import java.util.EnumMap;
import java.util.Map;
import java.util.function.Function;

/**
 * What limits the registration of a connection.
 *
 * @param tenantConnections the most connections of the tenant
 * @param connectionsPerSession the most connections of the session
 * @param sessionPerMinute the session's rate; the largest one limits nothing
 * @param modes the modes of limits that are not enforced
 */
public record ConnectionBounds(
    long tenantConnections,
    long connectionsPerSession,
    long sessionPerMinute,
    Map<Limit, LimitMode> modes) {
  /** The largest values. */
  static final ConnectionBounds NONE =
      new ConnectionBounds(
          Limit.TENANT_CONNECTIONS.max(),
          Limit.CONNECTIONS_PER_SESSION.max(),
          Limit.SESSION_PER_MINUTE.max(),
          Map.of());

  /** Copies the modes. */
  public ConnectionBounds {
    modes = Map.copyOf(modes);
  }

  /** The bounds that follow from limits. A limit that is off has its largest value. */
  static ConnectionBounds of(Limits limits) {
    Limits used = limits.withObserved(LimitMode.ENFORCE);
    return new ConnectionBounds(
        used.bound(Limit.TENANT_CONNECTIONS),
        used.bound(Limit.CONNECTIONS_PER_SESSION),
        used.bound(Limit.SESSION_PER_MINUTE),
        modes(limits::mode));
  }

  /** The modes of the limits of connections that are not enforced. */
  private static Map<Limit, LimitMode> modes(Function<Limit, LimitMode> of) {
    Map<Limit, LimitMode> modes = new EnumMap<>(Limit.class);
    for (Refusal refusal : Refusal.values()) {
      refusal
          .limit()
          .filter(limit -> of.apply(limit) != LimitMode.ENFORCE)
          .ifPresent(limit -> modes.put(limit, of.apply(limit)));
    }
    return modes;
  }

  /** The rate at which the session may open connections. */
  Gcra sessionRate() {
    return sessionPerMinute == Limit.SESSION_PER_MINUTE.max()
        ? Gcra.UNLIMITED
        : Gcra.perMinute(sessionPerMinute);
  }

  /** Whether a limit is observed that is the reason of a refusal. */
  boolean observes(Refusal why) {
    return why.limit().filter(limit -> is(limit, LimitMode.OBSERVE)).isPresent();
  }

  /** Whether connections need a token. */
  public boolean needToken() {
    return !is(Limit.TENANT_PER_MINUTE, LimitMode.OFF);
  }

  /** These bounds, with every observed one off. */
  ConnectionBounds withObservedOff() {
    Map<Limit, LimitMode> off = new EnumMap<>(Limit.class);
    modes.keySet().forEach(limit -> off.put(limit, LimitMode.OFF));
    return new ConnectionBounds(
        unlessObserved(Limit.TENANT_CONNECTIONS, tenantConnections),
        unlessObserved(Limit.CONNECTIONS_PER_SESSION, connectionsPerSession),
        unlessObserved(Limit.SESSION_PER_MINUTE, sessionPerMinute),
        off);
  }

  private long unlessObserved(Limit limit, long value) {
    return is(limit, LimitMode.OBSERVE) ? limit.max() : value;
  }

  private boolean is(Limit limit, LimitMode mode) {
    return modes.getOrDefault(limit, LimitMode.ENFORCE) == mode;
  }
}
