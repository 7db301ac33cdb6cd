package dev.tollgate.handlers.jwt;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSVerifier;
import com.nimbusds.jose.crypto.ECDSAVerifier;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Date;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Verifies signed JSON Web Tokens (RFC 7519). A token needs {@code kid}, {@code iss} and {@code
 * exp}. Keys that the token brings itself ({@code jwk}, {@code jku}, {@code x5u}) are ignored.
 */
public final class TokenVerifier {
  /** API Gateway accepts 4,096 characters in a URL, and 10,240 bytes in all headers. */
  static final int MAX_CHARS = 8_192;

  /** RFC 7515, section 5.2, allows no other characters; the parser would skip them. */
  private static final Pattern SYNTAX =
      Pattern.compile("[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+");

  /** The year 36812. The parser's milliseconds would wrap around far beyond. */
  private static final double MAX_SECONDS = 0x1p40;

  private static final int MIN_RSA_BITS = 2_048;
  private static final Set<String> ASYMMETRIC =
      Set.of("RS256", "RS384", "RS512", "ES256", "ES384", "ES512");

  private static final String MALFORMED = "the token is malformed";

  private final Accepted accepted;
  private final IssuerKeys keys;
  private final InstantSource clock;

  /**
   * The tokens that are accepted.
   *
   * @param issuer the required {@code iss}
   * @param audiences the token must name one of these in {@code aud}, or in {@code client_id} if it
   *     has no {@code aud}
   * @param algorithms some of RS256, RS384, RS512, ES256, ES384 and ES512
   * @param skew how far the issuer's clock may differ
   */
  public record Accepted(
      String issuer, List<String> audiences, Set<String> algorithms, Duration skew) {
    /**
     * Checks the values.
     *
     * @throws InvalidValue if there is another algorithm, or a negative skew
     */
    public Accepted {
      audiences = List.copyOf(audiences);
      algorithms = Set.copyOf(algorithms);
      InvalidValue.unless(
          !algorithms.isEmpty() && ASYMMETRIC.containsAll(algorithms),
          "algorithms",
          algorithms,
          "some of " + ASYMMETRIC);
      InvalidValue.unless(!skew.isNegative(), "skew", skew, ">= 0");
    }
  }

  /** A verifier with the keys that the issuer's discovery document names. */
  public TokenVerifier(Accepted accepted, InstantSource clock) {
    this(accepted, new PublishedKeySet(accepted.issuer()), clock);
  }

  TokenVerifier(Accepted accepted, KeySetReader reader, InstantSource clock) {
    this.accepted = accepted;
    this.keys = new IssuerKeys(reader, clock);
    this.clock = clock;
  }

  /**
   * Verifies a token.
   *
   * @throws Unavailable if the issuer's keys cannot be fetched
   */
  public TokenCheck verify(String token) {
    if (token.length() > MAX_CHARS) {
      return new TokenCheck.Invalid("the token has more than " + MAX_CHARS + " characters");
    }
    try {
      require(SYNTAX.matcher(token).matches(), MALFORMED);
      SignedJWT jwt = SignedJWT.parse(token);
      JWSHeader header = jwt.getHeader();
      require(
          accepted.algorithms().contains(header.getAlgorithm().getName()),
          "the algorithm is not one of those accepted");
      require(header.getCriticalParams() == null, "the token has critical extensions");
      require(header.getKeyID() != null, "the token does not name its key");
      requireSignature(jwt, keys.find(header));
      for (String time : List.of("exp", "nbf", "iat")) {
        require(isTime(jwt.getPayload().toJSONObject().get(time)), time + " is out of range");
      }
      JWTClaimsSet claims = jwt.getJWTClaimsSet();
      check(claims);
      Map<String, Object> present = new LinkedHashMap<>(claims.getClaims());
      present.values().removeIf(value -> value == null);
      return new TokenCheck.Valid(present);
    } catch (Refused refused) {
      return new TokenCheck.Invalid(refused.reason);
    } catch (Unavailable withoutKeys) {
      throw withoutKeys;
    } catch (ParseException | RuntimeException malformed) {
      // The parser also fails with exceptions that it does not declare.
      return new TokenCheck.Invalid(MALFORMED);
    }
  }

  /** Requires a signature by one of some keys, which may have the same id. */
  private static void requireSignature(SignedJWT jwt, List<JWK> named) throws Refused {
    require(!named.isEmpty(), "the issuer has no such key");
    List<JWK> strong =
        named.stream()
            .filter(key -> !(key instanceof RSAKey rsa) || rsa.size() >= MIN_RSA_BITS)
            .toList();
    require(!strong.isEmpty(), "the key has fewer than " + MIN_RSA_BITS + " bits");
    require(strong.stream().anyMatch(key -> verifies(jwt, key)), "the signature is wrong");
  }

  private static boolean verifies(SignedJWT jwt, JWK key) {
    try {
      JWSVerifier verifier =
          key instanceof ECKey curve
              ? new ECDSAVerifier(curve)
              : new RSASSAVerifier(key.toRSAKey());
      return jwt.verify(verifier);
    } catch (JOSEException | RuntimeException unfit) {
      return false;
    }
  }

  private static boolean isTime(@Nullable Object claim) {
    return !(claim instanceof Number seconds)
        || (seconds.doubleValue() >= 0 && seconds.doubleValue() <= MAX_SECONDS);
  }

  private void check(JWTClaimsSet claims) throws Refused, ParseException {
    Instant now = clock.instant();
    require(accepted.issuer().equals(claims.getIssuer()), "another issuer");
    require(
        claims.getAudience().isEmpty()
            ? Optional.ofNullable(claims.getStringClaim("client_id"))
                .filter(accepted.audiences()::contains)
                .isPresent()
            : claims.getAudience().stream()
                .filter(Objects::nonNull)
                .anyMatch(accepted.audiences()::contains),
        "another audience");
    Date expires = claims.getExpirationTime();
    require(
        expires != null && expires.toInstant().plus(accepted.skew()).isAfter(now),
        "expired, or without exp");
    require(hasCome(claims.getNotBeforeTime(), now), "not valid yet");
    require(hasCome(claims.getIssueTime(), now), "issued in the future");
  }

  private boolean hasCome(@Nullable Date date, Instant now) {
    return date == null || !date.toInstant().minus(accepted.skew()).isAfter(now);
  }

  private static void require(boolean holds, String reason) throws Refused {
    if (!holds) {
      throw new Refused(reason);
    }
  }

  private static final class Refused extends Exception {
    private static final long serialVersionUID = 1L;
    private final String reason;

    Refused(String reason) {
      super(reason);
      this.reason = reason;
    }
  }
}
