package dev.tollgate.handlers.session;

import dev.tollgate.core.connect.AdmissionFacts;
import dev.tollgate.core.session.Gcra;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
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
import java.util.stream.Stream;

/**
 * The values of the HTTP fields with a client's limits: {@code RateLimit-Policy} and {@code
 * RateLimit} (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4), and the seconds of {@code
 * Retry-After} (RFC 9110, section 10.2.3), which {@link SessionDocument} and {@link
 * SessionProblems} send.
 */
final class RateLimitFields {
  private static final String CONCURRENT = ";qu=\"concurrent-requests\"";

  private RateLimitFields() {}

  /**
   * The limits that may refuse the session's connections, with what remains of each. The bucket's
   * level is that of its last fill, so the next connection may still be refused.
   */
  static List<Remaining> enforced(
      Tenant tenant, Session session, AdmissionFacts facts, Instant now) {
    Limits limits = tenant.limits();
    Gcra rate = Gcra.perMinute(limits.get(Limit.SESSION_PER_MINUTE));
    long level =
        facts.ahead(now).isPresent()
            ? 0
            : facts.bucket().map(bucket -> bucket.at(now).available()).orElse(0L);
    return Stream.of(
            new Remaining(
                Limit.TENANT_PER_MINUTE,
                "connect",
                limits.get(Limit.TENANT_PER_MINUTE),
                level,
                Optional.of(seconds(now, facts.nextTokenAt(now)))),
            new Remaining(
                Limit.SESSION_PER_MINUTE,
                "session",
                limits.get(Limit.SESSION_PER_MINUTE),
                rate.remaining(session.arrival(), now),
                Optional.of(seconds(now, rate.conformsAt(session.arrival(), now)))),
            connections(limits, Limit.TENANT_CONNECTIONS, "connections", facts.connections()),
            connections(
                limits,
                Limit.CONNECTIONS_PER_SESSION,
                "session-connections",
                session.connections().size()))
        .filter(each -> limits.mode(each.of()) == LimitMode.ENFORCE)
        .toList();
  }

  private static Remaining connections(Limits limits, Limit of, String name, long open) {
    long most = limits.get(of);
    return new Remaining(of, name, most, Math.max(0, most - open), Optional.empty());
  }

  /**
   * A response with {@code RateLimit-Policy} and {@code RateLimit} of limits, and with {@code
   * X-RateLimit-…} of the one of which least remains, for clients that know one limit only. Without
   * these fields if there are no limits.
   */
  static Response with(Response response, List<Remaining> limits) {
    if (limits.isEmpty()) {
      return response;
    }
    String policy = limits.stream().map(Remaining::policy).collect(Collectors.joining(", "));
    String all = limits.stream().map(Remaining::field).collect(Collectors.joining(", "));
    Remaining least = Collections.min(limits, Comparator.comparingLong(Remaining::left));
    return withOne(
        response.with("ratelimit-policy", policy).with("ratelimit", all),
        least.limit(),
        least.left(),
        least.seconds());
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
   * @param name its name in the fields
   * @param seconds until more is available; empty if that depends on others
   */
  record Remaining(Limit of, String name, long limit, long left, Optional<String> seconds) {
    private String policy() {
      return "\"" + name + "\";q=" + limit + (seconds.isPresent() ? ";w=60" : CONCURRENT);
    }

    private String field() {
      return "\"" + name + "\";r=" + left + seconds.map(after -> ";t=" + after).orElse("");
    }
  }

  /** The seconds from {@code now} until {@code then}, rounded up; 0 if {@code then} is past. */
  static String seconds(Instant now, Instant then) {
    long millis = Math.max(0, Duration.between(now, then).toMillis());
    return String.valueOf((millis + 999) / 1000);
  }
}
