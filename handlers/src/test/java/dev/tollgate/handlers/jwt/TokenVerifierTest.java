package dev.tollgate.handlers.jwt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.JWSSigner;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import java.nio.charset.StandardCharsets;
import java.security.Signature;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Which tokens are valid, and how often the issuer is asked for its keys. */
final class TokenVerifierTest {
  private static final String ISSUER = "https://login.example.com/";
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final RSAKey KEY = rsa("one");
  private static final RSAKey NEXT = rsa("two");
  private static final ECKey CURVE = curve();

  private Instant now = START;
  private List<JWK> published = List.of(KEY, CURVE);
  private Optional<String> document = Optional.empty();
  private boolean failing;
  private int fetches;
  private final TokenVerifier verifier =
      new TokenVerifier(
          new TokenVerifier.Accepted(
              ISSUER, List.of("chat", "app"), Set.of("RS256", "ES256"), Duration.ofSeconds(60)),
          this::read,
          () -> now);

  private String read() {
    fetches++;
    if (failing) {
      throw new Unavailable("planted");
    }
    return document.orElseGet(() -> new JWKSet(published).toString(/* publicKeysOnly= */ true));
  }

  private static RSAKey rsa(String name) {
    try {
      return new RSAKeyGenerator(2_048).keyID(name).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static ECKey curve() {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID("curve").generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  private static JWTClaimsSet.Builder claims() {
    return new JWTClaimsSet.Builder()
        .issuer(ISSUER)
        .audience("chat")
        .subject("ann")
        .claim("tenant", "acme")
        .issueTime(Date.from(START))
        .expirationTime(Date.from(START.plusSeconds(300)));
  }

  private static JWTClaimsSet.Builder lasting() {
    return claims().expirationTime(Date.from(START.plus(Duration.ofDays(9))));
  }

  private static JWSHeader.Builder header(JWSAlgorithm algorithm, String key) {
    return new JWSHeader.Builder(algorithm).keyID(key);
  }

  private static String token(
      JWSHeader.Builder header, JWSSigner signer, JWTClaimsSet.Builder claims)
      throws JOSEException {
    SignedJWT jwt = new SignedJWT(header.build(), claims.build());
    jwt.sign(signer);
    return jwt.serialize();
  }

  private static String token(JWTClaimsSet.Builder claims) throws JOSEException {
    return token(header(JWSAlgorithm.RS256, "one"), new RSASSASigner(KEY), claims);
  }

  private static String named(RSAKey key, String name) throws JOSEException {
    return token(header(JWSAlgorithm.RS256, name), new RSASSASigner(key), lasting());
  }

  /** A token that the issuer signed with its elliptic curve. */
  private static String signed(String header, String claims) throws JOSEException {
    String input = encoded(header) + "." + encoded(claims);
    return input
        + "."
        + new ECDSASigner(CURVE)
            .sign(new JWSHeader(JWSAlgorithm.ES256), input.getBytes(StandardCharsets.US_ASCII));
  }

  private static String signed(String moreClaims) throws JOSEException {
    return signed(
        "{\"alg\":\"ES256\",\"kid\":\"curve\"}",
        "{\"iss\":\"" + ISSUER + "\",\"aud\":\"chat\"," + moreClaims + "}");
  }

  private static Date at(long seconds) {
    return Date.from(START.plusSeconds(seconds));
  }

  private static String encoded(String text) {
    return Base64URL.encode(text).toString();
  }

  static Stream<Arguments> good() throws JOSEException {
    return Stream.of(
        Arguments.of("plain", token(claims())),
        Arguments.of("list of audiences", token(claims().audience(List.of("other", "app")))),
        Arguments.of(
            "client_id instead of aud",
            token(claims().audience((String) null).claim("client_id", "app"))),
        Arguments.of("expired within the skew", token(claims().expirationTime(at(-59)))),
        Arguments.of("nbf within the skew", token(claims().notBeforeTime(at(60)))),
        Arguments.of(
            "elliptic curve",
            token(header(JWSAlgorithm.ES256, "curve"), new ECDSASigner(CURVE), claims())));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("good")
  void valid_tokens(String name, String token) {
    TokenCheck check = verifier.verify(token);
    assertThat(check).isInstanceOf(TokenCheck.Valid.class);
    assertThat(((TokenCheck.Valid) check).text("tenant")).contains("acme");
  }

  static Stream<Arguments> bad() throws Exception {
    String signed = token(claims());
    String[] parts = signed.split("\\.");
    return Stream.of(
        Arguments.of("empty", "", "malformed"),
        Arguments.of("not a token", "a.b.c", "malformed"),
        Arguments.of("unsigned", new PlainJWT(claims().build()).serialize(), "malformed"),
        Arguments.of(
            "none with a signature",
            encoded("{\"alg\":\"none\",\"kid\":\"one\"}") + "." + parts[1] + "." + parts[2],
            "malformed"),
        Arguments.of("no signature", parts[0] + "." + parts[1] + ".", "malformed"),
        Arguments.of(
            "other claims, same signature",
            parts[0]
                + "."
                + encoded(claims().claim("tenant", "other").build().toString())
                + "."
                + parts[2],
            "signature"),
        Arguments.of(
            "HMAC with the public key",
            token(
                header(JWSAlgorithm.HS256, "one"),
                new MACSigner(KEY.toRSAPublicKey().getEncoded()),
                claims()),
            "algorithm"),
        Arguments.of(
            "an algorithm that is not accepted",
            token(header(JWSAlgorithm.RS512, "one"), new RSASSASigner(KEY), claims()),
            "algorithm"),
        Arguments.of(
            "no kid",
            token(new JWSHeader.Builder(JWSAlgorithm.RS256), new RSASSASigner(KEY), claims()),
            "does not name"),
        Arguments.of("unknown kid", named(KEY, "none"), "no such key"),
        Arguments.of("another key's kid", named(NEXT, "one"), "signature"),
        Arguments.of("kid of an elliptic curve", named(KEY, "curve"), "no such key"),
        Arguments.of(
            "the token's own key",
            token(
                header(JWSAlgorithm.RS256, "one").jwk(NEXT.toPublicJWK()),
                new RSASSASigner(NEXT),
                claims()),
            "signature"),
        Arguments.of("expired", token(claims().expirationTime(at(-60))), "expired"),
        Arguments.of("no exp", token(claims().expirationTime(null)), "exp"),
        Arguments.of("exp of the wrong type", token(claims().claim("exp", "soon")), "malformed"),
        Arguments.of("not valid yet", token(claims().notBeforeTime(at(61))), "not valid yet"),
        Arguments.of("issued later", token(claims().issueTime(at(61))), "future"),
        Arguments.of("another audience", token(claims().audience("shop")), "audience"),
        Arguments.of(
            "null as audience",
            token(claims().audience(Collections.singletonList(null))),
            "audience"),
        Arguments.of("no audience", token(claims().audience((String) null)), "audience"),
        Arguments.of(
            "another audience with a client_id",
            token(claims().audience("shop").claim("client_id", "app")),
            "audience"),
        Arguments.of("another issuer", token(claims().issuer(ISSUER + "x")), "issuer"),
        Arguments.of("no issuer", token(claims().issuer(null)), "issuer"),
        Arguments.of("giant", token(claims().claim("x", "x".repeat(9_000))), "characters"),
        Arguments.of("header null", "bnVsbA.e30.AA", "malformed"),
        Arguments.of(
            "claims null", signed("{\"alg\":\"ES256\",\"kid\":\"curve\"}", "null"), "malformed"),
        Arguments.of("padding", signed + "==", "malformed"),
        Arguments.of("other characters", signed + "!!", "malformed"),
        Arguments.of(
            "a line feed",
            signed.substring(0, signed.length() - 9) + "\n" + signed.substring(signed.length() - 9),
            "malformed"),
        Arguments.of(
            "no critical extension",
            signed(
                "{\"alg\":\"ES256\",\"kid\":\"curve\",\"crit\":[]}", claims().build().toString()),
            "critical"),
        Arguments.of(
            "exp that wraps around", signed("\"exp\":-18446744070000000"), "exp is out of range"),
        Arguments.of("exp beyond a long", signed("\"exp\":1e300"), "exp is out of range"),
        Arguments.of(
            "nbf that wraps around",
            signed("\"exp\":4000000000,\"nbf\":9223372036854775807"),
            "nbf is out of range"),
        Arguments.of(
            "iat that wraps around",
            signed("\"exp\":4000000000,\"iat\":18446744073709552"),
            "iat is out of range"),
        Arguments.of("nested", encoded("{\"a\":".repeat(1_000)) + ".e30.x", "malformed"));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("bad")
  void invalid_tokens(String name, String token, String reason) {
    TokenCheck check = verifier.verify(token);
    assertThat(check).isInstanceOf(TokenCheck.Invalid.class);
    assertThat(((TokenCheck.Invalid) check).reason()).contains(reason);
  }

  @Test
  void claims_that_are_absent_empty_or_no_string_are_no_text() {
    TokenCheck.Valid claims = new TokenCheck.Valid(Map.of("n", 7, "l", List.of("a"), "e", ""));
    assertThat(Stream.of("n", "l", "e", "x").map(claims::text)).allMatch(text -> text.isEmpty());
  }

  @Test
  void a_published_key_of_1024_bits_is_refused() throws Exception {
    RSAKey weak = new RSAKeyGenerator(1_024, /* allowWeakKeys= */ true).keyID("weak").generate();
    published = List.of(weak);
    SignedJWT jwt = new SignedJWT(header(JWSAlgorithm.RS256, "weak").build(), claims().build());
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initSign(weak.toPrivateKey());
    signature.update(jwt.getSigningInput());
    String signed =
        new String(jwt.getSigningInput(), StandardCharsets.US_ASCII)
            + "."
            + Base64URL.encode(signature.sign());

    TokenCheck check = verifier.verify(signed);

    assertThat(check).isEqualTo(new TokenCheck.Invalid("the key has fewer than 2048 bits"));
  }

  @Test
  void algorithms_without_a_public_key_cannot_be_configured() {
    for (String algorithm : List.of("none", "HS256", "PS256")) {
      assertThatThrownBy(
              () ->
                  new TokenVerifier.Accepted(
                      ISSUER, List.of("a"), Set.of("RS256", algorithm), Duration.ZERO))
          .isInstanceOf(InvalidValue.class);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "null",
        "7",
        "{\"kid\":\"nothing\"}",
        "{\"kty\":\"AKP\",\"alg\":\"ML-DSA-44\",\"kid\":\"later\",\"pub\":\"AAAA\"}",
        "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"no point\",\"x\":\"AA\",\"y\":\"AA\"}",
        "{\"kty\":\"RSA\",\"kid\":\"no modulus\",\"x5c\":[\"AAAA\"]}"
      })
  void a_key_that_is_not_understood_is_skipped(String odd) throws Exception {
    document = Optional.of("{\"keys\":[" + odd + "," + CURVE.toPublicJWK() + "]}");
    assertThat(verifier.verify(signed("\"exp\":4000000000"))).isInstanceOf(TokenCheck.Valid.class);
  }

  @Test
  void a_document_without_a_list_of_keys_is_a_failure_of_the_issuer() throws Exception {
    String token = signed("\"exp\":4000000000");
    document = Optional.of("{\"keys\":{}}");
    assertThatThrownBy(() -> verifier.verify(token)).isInstanceOf(Unavailable.class);
  }

  @Test
  void a_key_for_other_operations_does_not_verify() throws Exception {
    String key = CURVE.toPublicJWK().toString();
    document = Optional.of("{\"keys\":[" + key.replace("}", ",\"key_ops\":[\"encrypt\"]}") + "]}");
    assertThat(verifier.verify(signed("\"exp\":4000000000")))
        .isEqualTo(new TokenCheck.Invalid("the issuer has no such key"));
  }

  @Test
  void five_keys_of_one_id_are_tried() throws Exception {
    List<JWK> others = new ArrayList<>();
    for (int i = 0; i < IssuerKeys.MAX_KEYS_OF_ONE_ID; i++) {
      others.add(new ECKey.Builder(curve()).build());
    }
    String token = signed("\"exp\":4000000000");
    published = Stream.concat(others.stream().skip(1), Stream.of(CURVE)).toList();
    assertThat(verifier.verify(token)).isInstanceOf(TokenCheck.Valid.class);

    published = Stream.concat(others.stream(), Stream.of(CURVE)).toList();
    now = now.plus(IssuerKeys.FRESH);
    assertThat(verifier.verify(token)).isInstanceOf(TokenCheck.Invalid.class);
  }

  @Test
  void while_fetches_fail_an_invented_key_id_is_invalid() throws Exception {
    verifier.verify(token(claims()));
    failing = true;
    now = now.plus(IssuerKeys.BETWEEN_FETCHES);
    assertThat(verifier.verify(named(KEY, "invented"))).isInstanceOf(TokenCheck.Invalid.class);
    assertThat(verifier.verify(token(claims()))).isInstanceOf(TokenCheck.Valid.class);
    assertThat(fetches).isEqualTo(2);
  }

  @Test
  void a_clock_that_goes_back_does_not_stop_fetches() throws Exception {
    failing = true;
    now = START.plus(Duration.ofHours(1));
    assertThatThrownBy(() -> verifier.verify(token(claims()))).isInstanceOf(Unavailable.class);
    failing = false;
    now = START;
    assertThat(verifier.verify(token(claims()))).isInstanceOf(TokenCheck.Valid.class);
  }

  @Test
  void a_flood_of_key_ids_causes_one_fetch_in_each_interval() throws Exception {
    List<String> forged = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      forged.add(named(KEY, "forged-" + i));
    }
    for (int i = 0; i < 200; i++) {
      verifier.verify(forged.get(i % 10));
    }
    assertThat(fetches).isEqualTo(1);
    now = now.plus(IssuerKeys.BETWEEN_FETCHES);
    for (int i = 0; i < 200; i++) {
      verifier.verify(forged.get(i % 10));
    }
    assertThat(fetches).isEqualTo(2);
    assertThat(verifier.verify(token(claims()))).isInstanceOf(TokenCheck.Valid.class);
    assertThat(fetches).isEqualTo(2);
  }

  @Test
  void tokens_refused_for_their_form_cause_no_fetch() throws Exception {
    verifier.verify("a.b.c");
    verifier.verify(new PlainJWT(claims().build()).serialize());
    verifier.verify(token(claims().claim("x", "x".repeat(9_000))));
    assertThat(fetches).isZero();
  }

  @Test
  void a_new_key_is_found_and_a_withdrawn_one_is_refused_within_an_hour() throws Exception {
    assertThat(verifier.verify(named(KEY, "one"))).isInstanceOf(TokenCheck.Valid.class);
    published = List.of(NEXT);
    now = now.plus(IssuerKeys.FRESH).minusSeconds(1);
    assertThat(verifier.verify(named(KEY, "one"))).isInstanceOf(TokenCheck.Valid.class);
    assertThat(verifier.verify(named(NEXT, "two"))).isInstanceOf(TokenCheck.Valid.class);
    assertThat(verifier.verify(named(KEY, "one"))).isInstanceOf(TokenCheck.Invalid.class);
    assertThat(fetches).isEqualTo(2);
  }

  @Test
  void keys_are_kept_for_a_day_while_fetches_fail() throws Exception {
    String token = named(KEY, "one");
    verifier.verify(token);
    failing = true;
    now = START.plus(IssuerKeys.KEPT).minusSeconds(1);
    assertThat(verifier.verify(token)).isInstanceOf(TokenCheck.Valid.class);
    assertThat(fetches).isEqualTo(2);
    now = START.plus(IssuerKeys.KEPT);
    assertThatThrownBy(() -> verifier.verify(token)).isInstanceOf(Unavailable.class);
    failing = false;
    now = now.plus(IssuerKeys.BETWEEN_FETCHES);
    assertThat(verifier.verify(token)).isInstanceOf(TokenCheck.Valid.class);
  }

  @Test
  void without_keys_a_token_is_undecided_and_failures_are_not_repeated_at_once() throws Exception {
    failing = true;
    for (int i = 0; i < 5; i++) {
      assertThatThrownBy(() -> verifier.verify(token(claims()))).isInstanceOf(Unavailable.class);
    }
    assertThat(fetches).isEqualTo(1);
  }
}
