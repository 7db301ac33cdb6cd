package dev.tollgate.handlers.session;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.http.Request;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Optional;

/** Reads the claims of a request's JSON Web Token (RFC 7519), which API Gateway has verified. */
final class TokenClaims {
  /** The most digits before the decimal point of a plausible time in seconds. */
  private static final int MAX_DIGITS = 12;

  private TokenClaims() {}

  /** Whether the claim names this tenant. A request without a token names none. */
  static boolean nameTenant(TenantId tenant, String claim, Request request) {
    return request.claim(claim).filter(tenant.value()::equals).isPresent();
  }

  /** The subject of the token, for this tenant; empty if claim {@code sub} is missing or blank. */
  static Optional<Subject> subject(TenantId tenant, Request request) {
    return request
        .claim("sub")
        .filter(subject -> !subject.isBlank())
        .map(subject -> Subject.of(tenant, subject));
  }

  /** When the token expires; empty if claim {@code exp} is missing or malformed. */
  static Optional<Instant> expiry(Request request) {
    return request.claim("exp").flatMap(TokenClaims::seconds);
  }

  /** Seconds since 1970 in any notation of a number, possibly with decimals. */
  private static Optional<Instant> seconds(String number) {
    try {
      BigDecimal seconds = new BigDecimal(number);
      return seconds.precision() - (long) seconds.scale() > MAX_DIGITS
          ? Optional.empty()
          : Optional.of(Instant.ofEpochSecond(seconds.longValue()));
    } catch (NumberFormatException malformed) {
      return Optional.empty();
    }
  }
}
