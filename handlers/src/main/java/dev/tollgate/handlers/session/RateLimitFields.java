package dev.tollgate.handlers.session;

import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;

/**
 * The values of the HTTP fields with a client's limits: {@code RateLimit-Policy} and {@code
 * RateLimit} (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4), and the seconds of {@code
 * Retry-After} (RFC 9110, section 10.2.3), which {@link SessionDocument} and {@link
 * SessionProblems} send.
 */
final class RateLimitFields {
  private static final String POLICY =
      "\"connect\";q=%d;w=60, \"session\";q=%d;w=60, "
          + "\"connections\";q=%d;qu=\"concurrent-requests\", "
          + "\"session-connections\";q=%d;qu=\"concurrent-requests\"";

  private RateLimitFields() {}

  /** The tenant's limits, as the value of {@code RateLimit-Policy}. */
  static String policy(Tenant tenant) {
    return POLICY.formatted(
        tenant.limits().get(Limit.TENANT_PER_MINUTE),
        tenant.limits().get(Limit.SESSION_PER_MINUTE),
        tenant.limits().get(Limit.TENANT_CONNECTIONS),
        tenant.limits().get(Limit.CONNECTIONS_PER_SESSION));
  }

  /**
   * The remaining part of each limit, as the value of {@code RateLimit}. The bucket's level is that
   * of its last fill, so the next connection may still be refused.
   */
  static String remaining(Tenant tenant, Session session, AdmissionFacts facts, Instant now) {
    Gcra rate = Gcra.perMinute(tenant.limits().get(Limit.SESSION_PER_MINUTE));
    long level =
        facts.ahead(now).isPresent()
            ? 0
            : facts.bucket().map(bucket -> bucket.at(now).available()).orElse(0L);
    return String.join(
        ", ",
        "\"connect\";r=" + level + ";t=" + seconds(now, facts.nextTokenAt(now)),
        "\"session\";r="
            + rate.remaining(session.arrival(), now)
            + ";t="
            + seconds(now, rate.conformsAt(session.arrival(), now)),
        "\"connections\";r="
            + left(tenant.limits().get(Limit.TENANT_CONNECTIONS), facts.connections()),
        "\"session-connections\";r="
            + left(
                tenant.limits().get(Limit.CONNECTIONS_PER_SESSION), session.connections().size()));
  }

  private static long left(long limit, long used) {
    return Math.max(0, limit - used);
  }

  /** The seconds from {@code now} until {@code then}, rounded up; 0 if {@code then} is past. */
  static String seconds(Instant now, Instant then) {
    long millis = Math.max(0, Duration.between(now, then).toMillis());
    return String.valueOf((millis + 999) / 1000);
  }
}
