package dev.tollgate.local.gateway.jwt;

import com.fasterxml.jackson.databind.node.ObjectNode;
import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSAVerifier;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.nimbusds.jwt.proc.BadJWTException;
import dev.tollgate.local.gateway.Decision;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.text.ParseException;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The JWT authorizer of an HTTP API, which checks the token in header {@code Authorization} (API
 * Gateway Developer Guide, "Controlling access to HTTP APIs with JWT authorizers"). Where the guide
 * is ambiguous, this class is strict: a token without {@code kid}, {@code exp} or {@code iss} is
 * invalid, and only the RSA algorithms of PKCS #1 v1.5 are accepted.
 */
public final class JwtAuthorizer {
  private static final Set<JWSAlgorithm> ALGORITHMS =
      Set.of(JWSAlgorithm.RS256, JWSAlgorithm.RS384, JWSAlgorithm.RS512);

  private static final String BEARER = "Bearer ";

  private final String issuer;
  private final List<String> audiences;
  private final IssuerKeys keys;
  private final InstantSource clock;

  /**
   * An authorizer.
   *
   * @param issuer the required {@code iss} of tokens
   * @param audiences the token must name one of these in {@code aud}, or in {@code client_id} if it
   *     has no {@code aud}
   * @param keys the issuer's keys
   * @param clock the clock for {@code exp}, {@code nbf} and {@code iat}
   */
  public JwtAuthorizer(
      String issuer, List<String> audiences, IssuerKeys keys, InstantSource clock) {
    this.issuer = issuer;
    this.audiences = List.copyOf(audiences);
    this.keys = keys;
    this.clock = clock;
  }

  /**
   * Checks a request: 401 if its token is missing or invalid, 403 if the token has none of the
   * scopes.
   *
   * @param header its header {@code Authorization}: the token, with or without {@code Bearer}
   *     before it
   * @param scopes the scopes of the route; the token must have one of them, if there are any
   */
  public Decision decide(Optional<String> header, List<String> scopes) {
    if (header.isEmpty()) {
      return new Decision.Refused(401, BEARER.trim(), "");
    }
    String scope = String.join(" ", scopes);
    try {
      JWTClaimsSet claims = verified(header.get());
      List<String> granted = scopes(claims);
      if (!scopes.isEmpty() && granted.stream().noneMatch(scopes::contains)) {
        return new Decision.Refused(403, challenge(scope, "insufficient_scope", ""), "");
      }
      return new Decision.Admitted(context(claims, scopes.isEmpty() ? List.of() : granted));
    } catch (BadJWTException e) {
      return refused(scope, String.valueOf(e.getMessage()), "");
    } catch (IOException e) {
      return refused(scope, "the keys of the issuer cannot be fetched", e.toString());
    }
  }

  private static Decision.Refused refused(String scope, String description, String trouble) {
    return new Decision.Refused(401, challenge(scope, "invalid_token", description), trouble);
  }

  private static String challenge(String scope, String error, String description) {
    String text = "Bearer scope=\"" + scope + "\" error=\"" + error + "\"";
    return description.isEmpty() ? text : text + " error_description=\"" + description + "\"";
  }

  private JWTClaimsSet verified(String header) throws BadJWTException, IOException {
    String token = header.startsWith(BEARER) ? header.substring(BEARER.length()) : header;
    try {
      SignedJWT jwt = SignedJWT.parse(token);
      JWSHeader signed = jwt.getHeader();
      require(
          ALGORITHMS.contains(signed.getAlgorithm()),
          "the algorithm of the token is not RS256, RS384 or RS512");
      require(signed.getKeyID() != null, "the token does not name its key");
      RSAKey key =
          keys.find(signed).orElseThrow(() -> new BadJWTException("the issuer has no such key"));
      require(
          jwt.verify(new RSASSAVerifier(key.toRSAPublicKey())),
          "the token is not signed with that key");
      JWTClaimsSet claims = jwt.getJWTClaimsSet();
      check(claims);
      return claims;
    } catch (ParseException | JOSEException | IllegalArgumentException e) {
      throw new BadJWTException("the token is malformed");
    }
  }

  private void check(JWTClaimsSet claims) throws BadJWTException, ParseException {
    Instant now = clock.instant();
    require(issuer.equals(claims.getIssuer()), "the token does not have a valid issuer");
    require(
        claims.getAudience().isEmpty()
            ? Optional.ofNullable(claims.getStringClaim("client_id"))
                .filter(audiences::contains)
                .isPresent()
            : claims.getAudience().stream().anyMatch(audiences::contains),
        "the token does not have a valid audience");
    Date expires = claims.getExpirationTime();
    require(expires != null && expires.toInstant().isAfter(now), "the token has expired");
    require(hasCome(claims.getNotBeforeTime(), now), "the token is not valid yet");
    require(hasCome(claims.getIssueTime(), now), "the token was issued in the future");
  }

  private static void require(boolean holds, String description) throws BadJWTException {
    if (!holds) {
      throw new BadJWTException(description);
    }
  }

  private static boolean hasCome(@Nullable Date date, Instant now) {
    return date == null || !date.toInstant().isAfter(now);
  }

  /** RFC 8693, section 4.2: one text with blanks between; {@code scp} may be a list, too. */
  private static List<String> scopes(JWTClaimsSet claims) {
    return Stream.of("scope", "scp")
        .map(claims::getClaim)
        .flatMap(
            claim ->
                claim instanceof List<?> list
                    ? list.stream().map(String::valueOf)
                    : claim instanceof String text ? Stream.of(text.split(" ")) : Stream.of())
        .filter(scope -> !scope.isEmpty())
        .distinct()
        .toList();
  }

  private static ObjectNode context(JWTClaimsSet claims, List<String> scopes) {
    ObjectNode jwt = Json.object();
    ObjectNode texts = jwt.putObject("claims");
    claims.toJSONObject().forEach((name, value) -> texts.put(name, text(value)));
    if (scopes.isEmpty()) {
      jwt.putNull("scopes");
    } else {
      scopes.forEach(jwt.putArray("scopes")::add);
    }
    return Json.object("jwt", jwt);
  }

  /** As observed on AWS, a list of {@code a} and {@code b} becomes {@code [a b]}. */
  private static String text(Object value) {
    if (value instanceof List<?> list) {
      return list.stream().map(JwtAuthorizer::text).collect(Collectors.joining(" ", "[", "]"));
    }
    if (value instanceof Map<?, ?> map) {
      List<String> members = new ArrayList<>();
      map.forEach((name, member) -> members.add(name + ":" + text(member)));
      return "map[" + String.join(" ", members) + "]";
    }
    return String.valueOf(value);
  }
}
