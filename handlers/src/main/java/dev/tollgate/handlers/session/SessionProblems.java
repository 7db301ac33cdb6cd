package dev.tollgate.handlers.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionLifecycle;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Response;
import java.time.Instant;
import java.util.Optional;

/** The problems that the session API responds with. */
final class SessionProblems {
  private static final String TOO_MANY_SESSIONS_OF_SUBJECT = "Too many sessions of one subject";

  private SessionProblems() {}

  static Response noTenant(TenantId id) {
    return Problem.notFound("No tenant named `" + id + "`. Check the id, or onboard the tenant.")
        .response();
  }

  /** Does not repeat the session's id, which is a secret. */
  static Response noSession(TenantId id) {
    return Problem.notFound(
            "Tenant `"
                + id
                + "` has no such session, or the session has ended. Create one with PUT /session.")
        .response();
  }

  static Response suspended() {
    return Problem.of(
            "suspended",
            403,
            "The tenant is suspended",
            "No session or connection opens until an operator activates the tenant.")
        .response();
  }

  /** Reveals neither the token's claims nor whether the tenant exists. */
  static Response notYourTenant(TenantId requested, String claim) {
    return Problem.of(
            "not-your-tenant",
            403,
            "The token is not for this tenant",
            "Claim `"
                + claim
                + "` of the token does not name tenant `"
                + requested
                + "`. Use a token of this tenant.")
        .response();
  }

  static Response noSubject() {
    return unusableToken("The token has no claim `sub`. Use a token that names its subject.");
  }

  static Response noExpiry() {
    return unusableToken(
        "Claim `exp` of the token is missing, malformed or past. Use a token that expires later.");
  }

  private static Response unusableToken(String detail) {
    return Problem.of("unusable-token", 403, "The token cannot be used for sessions", detail)
        .response();
  }

  static Response subjectTooFast(Tenant tenant, Instant now, Instant retryAt) {
    return tooMany(
        "subject-quota-exceeded",
        TOO_MANY_SESSIONS_OF_SUBJECT,
        "The subject of the token creates sessions of tenant `"
            + tenant.id()
            + "` too fast: more in a minute than twice sessionsPerSubject, or than half of what"
            + " the tenant may. Retry later.",
        SessionLifecycle.creationsPerMinuteOfSubject(tenant),
        now,
        retryAt);
  }

  static Response subjectFull(Tenant tenant, Instant now, Instant retryAt) {
    return tooMany(
        "subject-quota-exceeded",
        TOO_MANY_SESSIONS_OF_SUBJECT,
        "The subject of the token has "
            + tenant.limits().get(Limit.SESSIONS_PER_SUBJECT)
            + " sessions of tenant `"
            + tenant.id()
            + "`, the most that sessionsPerSubject allows. End one with DELETE /session, or wait"
            + " until one expires.",
        tenant.limits().get(Limit.SESSIONS_PER_SUBJECT),
        now,
        retryAt);
  }

  static Response tenantTooFast(Tenant tenant, Instant now, Instant retryAt) {
    return tooMany(
        "quota-exceeded",
        "Too many sessions",
        "Tenant `"
            + tenant.id()
            + "` creates sessions too fast: more in a minute than ten times tenantPerMinute. Retry"
            + " later.",
        SessionLifecycle.creationsPerMinute(tenant),
        now,
        retryAt);
  }

  private static Response tooMany(
      String name, String title, String detail, long limit, Instant now, Instant retryAt) {
    String seconds = RateLimitFields.seconds(now, retryAt);
    return RateLimitFields.withOne(
        Problem.of(name, 429, title, detail).response().with("retry-after", seconds),
        limit,
        0,
        Optional.of(seconds));
  }
}
