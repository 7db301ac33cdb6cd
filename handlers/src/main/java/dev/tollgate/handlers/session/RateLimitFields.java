package dev.tollgate.handlers.session;

import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.http.Response;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

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
   * The remaining part of each limit, in the order of the policy. The bucket's level is that of its
   * last fill, so the next connection may still be refused.
   */
  static List<Remaining> remaining(
      Tenant tenant, Session session, AdmissionFacts facts, Instant now) {
    Limits limits = tenant.limits();
    Gcra rate = Gcra.perMinute(limits.get(Limit.SESSION_PER_MINUTE));
    long level =
        facts.ahead(now).isPresent()
            ? 0
            : facts.bucket().map(bucket -> bucket.at(now).available()).orElse(0L);
    return List.of(
        new Remaining(
            "connect",
            limits.get(Limit.TENANT_PER_MINUTE),
            level,
            Optional.of(seconds(now, facts.nextTokenAt(now)))),
        new Remaining(
            "session",
            limits.get(Limit.SESSION_PER_MINUTE),
            rate.remaining(session.arrival(), now),
            Optional.of(seconds(now, rate.conformsAt(session.arrival(), now)))),
        new Remaining(
            "connections",
            limits.get(Limit.TENANT_CONNECTIONS),
            left(limits.get(Limit.TENANT_CONNECTIONS), facts.connections()),
            Optional.empty()),
        new Remaining(
            "session-connections",
            limits.get(Limit.CONNECTIONS_PER_SESSION),
            left(limits.get(Limit.CONNECTIONS_PER_SESSION), session.connections().size()),
            Optional.empty()));
  }

  /**
   * A response with {@code RateLimit}, and with {@code X-RateLimit-…} of the limit of which least
   * remains, for clients that know one limit only.
   */
  static Response with(Response response, List<Remaining> limits) {
    String all = limits.stream().map(Remaining::field).collect(Collectors.joining(", "));
    Remaining least = Collections.min(limits, Comparator.comparingLong(Remaining::left));
    return withOne(response.with("ratelimit", all), least.limit(), least.left(), least.seconds());
  }

  /**
   * A response with {@code X-RateLimit-…} of one limit. No standard defines them; the reset is in
   * seconds from now, as Envoy sends it and like {@code Retry-After}.
   *
   * @see <a
   *     href="https://www.envoyproxy.io/docs/envoy/latest/configuration/http/http_filters/rate_limit_filter">Rate
   *     limit filter of Envoy</a>
   */
  static Response withOne(Response response, long limit, long left, Optional<String> seconds) {
    Response counted =
        response
            .with("x-ratelimit-limit", Long.toString(limit))
            .with("x-ratelimit-remaining", Long.toString(left));
    return seconds.map(after -> counted.with("x-ratelimit-reset", after)).orElse(counted);
  }

  /**
   * What remains of a limit.
   *
   * @param seconds until more is available; empty if that depends on others
   */
  record Remaining(String name, long limit, long left, Optional<String> seconds) {
    private String field() {
      return "\"" + name + "\";r=" + left + seconds.map(after -> ";t=" + after).orElse("");
    }
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
