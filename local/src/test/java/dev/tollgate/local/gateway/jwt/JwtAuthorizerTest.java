package dev.tollgate.local.gateway.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.MACSigner;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.PlainJWT;
import com.nimbusds.jwt.SignedJWT;
import dev.tollgate.local.gateway.Decision;
import dev.tollgate.local.testing.ManualClock;
import dev.tollgate.local.testing.TokenIssuer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

final class JwtAuthorizerTest {
  private static final String ISSUER = "https://login.example.com/";
  private static final RSAKey KEY = TokenIssuer.key("one");

  private final ManualClock clock = new ManualClock(Instant.parse("2026-03-12T09:15:02Z"));
  private final TokenIssuer issuer = new TokenIssuer(clock);
  private final JwtAuthorizer authorizer =
      new JwtAuthorizer(
          ISSUER,
          List.of("tollgate", "other"),
          new IssuerKeys(ISSUER, Optional.of(issuer.keySet()), clock),
          clock);

  @BeforeEach
  void publish() {
    issuer.publish(KEY);
  }

  @AfterEach
  void close() {
    issuer.close();
  }

  private JWTClaimsSet.Builder claims() {
    return issuer.claims(ISSUER, "tollgate").claim("tenantId", "acme");
  }

  private Decision judge(String header) {
    return authorizer.decide(Optional.of(header), List.of());
  }

  private Decision judge(JWTClaimsSet.Builder claims) {
    return judge(TokenIssuer.token(KEY, claims));
  }

  private static void assertRefused(Decision verdict, String description) {
    assertThat(verdict)
        .isEqualTo(
            new Decision.Refused(
                401,
                "Bearer scope=\"\" error=\"invalid_token\" error_description=\""
                    + description
                    + "\"",
                ""));
  }

  private static void assertPassed(Decision verdict) {
    assertThat(verdict).isInstanceOf(Decision.Admitted.class);
  }

  private Date in(long seconds) {
    return Date.from(clock.instant().plusSeconds(seconds));
  }

  @Test
  void a_token_that_holds_passes_with_and_without_bearer_and_its_claims_become_texts() {
    JWTClaimsSet.Builder claims =
        claims().claim("groups", List.of("a", "b")).claim("admin", true).claim("level", 3);
    Decision bare = judge(claims);
    assertThat(bare).isInstanceOf(Decision.Admitted.class);
    assertThat(((Decision.Admitted) bare).context().toString())
        .contains("\"tenantId\":\"acme\"", "\"groups\":\"[a b]\"", "\"admin\":\"true\"")
        .contains("\"level\":\"3\"", "\"exp\":\"1773307202\"", "\"scopes\":null");
    assertThat(judge("Bearer " + TokenIssuer.token(KEY, claims))).isEqualTo(bare);
  }

  @Test
  void a_request_without_a_token_is_asked_for_one() {
    assertThat(authorizer.decide(Optional.empty(), List.of()))
        .isEqualTo(new Decision.Refused(401, "Bearer", ""));
  }

  @Test
  void what_is_no_token_is_malformed() {
    String token = TokenIssuer.token(KEY, claims());
    String[] parts = token.split("\\.", -1);
    for (String garbage :
        List.of(
            "",
            "Bearer ",
            "garbage",
            "a.b.c",
            "Basic dXNlcjpwYXNz",
            parts[0] + "." + parts[1] + ".",
            parts[0] + "." + parts[1],
            token + "." + token,
            token + "," + token,
            "Bearer Bearer " + token)) {
      assertRefused(judge(garbage), "the token is malformed");
    }
  }

  @Test
  void a_token_of_another_issuer_does_not_hold() {
    for (String other :
        List.of("https://login.example.com", "https://evil.example/", ISSUER + "x")) {
      assertRefused(judge(claims().issuer(other)), "the token does not have a valid issuer");
    }
    assertRefused(judge(claims().issuer(null)), "the token does not have a valid issuer");
  }

  @Test
  void an_audience_must_be_among_those_that_are_named() {
    String description = "the token does not have a valid audience";
    assertPassed(judge(claims().audience(List.of("else", "other"))));
    assertRefused(judge(claims().audience("tollgate2")), description);
    assertRefused(judge(claims().audience("toll")), description);
    assertRefused(judge(claims().audience((String) null)), description);
  }

  @Test
  void client_id_counts_only_where_there_is_no_audience() {
    String description = "the token does not have a valid audience";
    assertPassed(judge(claims().audience((String) null).claim("client_id", "tollgate")));
    assertRefused(judge(claims().audience("else").claim("client_id", "tollgate")), description);
    assertRefused(
        judge(claims().audience((String) null).claim("client_id", "tollgate2")), description);
  }

  @Test
  void a_token_holds_from_one_instant_to_another() {
    assertRefused(judge(claims().expirationTime(in(0))), "the token has expired");
    assertPassed(judge(claims().expirationTime(in(1))));
    assertRefused(judge(claims().expirationTime(null)), "the token has expired");
    assertRefused(judge(claims().notBeforeTime(in(1))), "the token is not valid yet");
    assertPassed(judge(claims().notBeforeTime(in(0))));
    assertRefused(judge(claims().issueTime(in(1))), "the token was issued in the future");
    assertPassed(judge(claims().issueTime(null)));
  }

  @Test
  void a_signature_of_another_key_does_not_hold() {
    RSAKey impostor = TokenIssuer.key("one");
    assertRefused(
        judge(TokenIssuer.token(impostor, claims())), "the token is not signed with that key");
    assertRefused(
        judge(TokenIssuer.token(TokenIssuer.key("two"), claims())), "the issuer has no such key");
    assertRefused(
        judge(TokenIssuer.token(new JWSHeader.Builder(JWSAlgorithm.RS256), KEY, claims())),
        "the token does not name its key");
  }

  @Test
  void a_token_whose_claims_were_changed_does_not_hold() {
    String[] mine = TokenIssuer.token(KEY, claims()).split("\\.", -1);
    String[] others = TokenIssuer.token(KEY, claims().claim("tenantId", "other")).split("\\.", -1);
    assertRefused(
        judge(mine[0] + "." + others[1] + "." + mine[2]), "the token is not signed with that key");
  }

  @Test
  void algorithms_other_than_of_rsa_do_not_hold() throws JOSEException {
    String description = "the algorithm of the token is not RS256, RS384 or RS512";
    assertRefused(judge(new PlainJWT(claims().build()).serialize()), "the token is malformed");

    byte[] secret = KEY.toRSAPublicKey().getEncoded();
    SignedJWT symmetric =
        new SignedJWT(
            new JWSHeader.Builder(JWSAlgorithm.HS256).keyID("one").build(), claims().build());
    symmetric.sign(new MACSigner(secret));
    assertRefused(judge(symmetric.serialize()), description);

    JWSHeader.Builder pss = new JWSHeader.Builder(JWSAlgorithm.PS256).keyID("one");
    assertRefused(judge(TokenIssuer.token(pss, KEY, claims())), description);
    for (JWSAlgorithm algorithm : List.of(JWSAlgorithm.RS384, JWSAlgorithm.RS512)) {
      JWSHeader.Builder header = new JWSHeader.Builder(algorithm).keyID("one");
      assertPassed(judge(TokenIssuer.token(header, KEY, claims())));
    }
  }

  @Test
  void a_key_that_the_token_brings_along_is_not_used() {
    RSAKey own = TokenIssuer.key("own");
    JWSHeader.Builder header =
        new JWSHeader.Builder(JWSAlgorithm.RS256).keyID("own").jwk(own.toPublicJWK());
    assertRefused(judge(TokenIssuer.token(header, own, claims())), "the issuer has no such key");
  }

  @Test
  void a_key_for_something_else_is_no_key() {
    issuer.publish(
        new RSAKey.Builder(KEY).keyID("enc").keyUse(KeyUse.ENCRYPTION).build(),
        new RSAKey.Builder(KEY).keyID("r512").algorithm(JWSAlgorithm.RS512).build());
    for (String name : List.of("enc", "r512")) {
      JWSHeader.Builder header = new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(name);
      assertRefused(judge(TokenIssuer.token(header, KEY, claims())), "the issuer has no such key");
    }
  }

  @Test
  void a_route_with_scopes_takes_tokens_that_have_one_of_them() {
    List<String> scopes = List.of("sessions", "admin");
    for (Object granted : List.of("read sessions", List.of("admin"))) {
      String name = granted instanceof String ? "scope" : "scp";
      String token = TokenIssuer.token(KEY, claims().claim(name, granted));
      Decision verdict = authorizer.decide(Optional.of(token), scopes);
      assertPassed(verdict);
      assertThat(((Decision.Admitted) verdict).context().at("/jwt/scopes").isEmpty()).isFalse();
    }
    String token = TokenIssuer.token(KEY, claims().claim("scope", "sessions2 sess"));
    assertThat(authorizer.decide(Optional.of(token), scopes))
        .isEqualTo(
            new Decision.Refused(
                403, "Bearer scope=\"sessions admin\" error=\"insufficient_scope\"", ""));
  }

  // Keys

  @Test
  void keys_are_kept_and_an_unknown_one_is_looked_for_now_and_then() {
    assertPassed(judge(claims()));
    assertPassed(judge(claims()));
    assertThat(issuer.requests()).isEqualTo(1);

    RSAKey next = TokenIssuer.key("next");
    issuer.publish(KEY, next);
    assertRefused(judge(TokenIssuer.token(next, claims())), "the issuer has no such key");
    assertThat(issuer.requests()).isEqualTo(1);
    clock.advance(Duration.ofSeconds(10));
    assertPassed(judge(TokenIssuer.token(next, claims())));
    String madeUp = TokenIssuer.token(TokenIssuer.key("made-up"), claims());
    for (int i = 0; i < 100; i++) {
      assertRefused(judge(madeUp), "the issuer has no such key");
    }
    assertThat(issuer.requests()).isEqualTo(2);
  }

  @Test
  void a_key_that_was_taken_back_is_forgotten_after_two_hours() {
    assertPassed(judge(claims()));
    issuer.publish();
    clock.advance(Duration.ofHours(2).minusSeconds(1));
    assertPassed(judge(claims()));
    clock.advance(Duration.ofSeconds(1));
    assertRefused(judge(claims()), "the issuer has no such key");
  }

  @Test
  void keys_that_cannot_be_had_let_nobody_in_and_are_told() {
    issuer.close();
    Decision verdict = judge(claims());
    assertThat(verdict).isInstanceOf(Decision.Refused.class);
    assertThat(((Decision.Refused) verdict).status()).isEqualTo(401);
    assertThat(((Decision.Refused) verdict).trouble()).isNotEmpty();
  }

  @Test
  void keys_are_found_by_the_issuers_own_word() {
    JwtAuthorizer discovering =
        new JwtAuthorizer(
            issuer.url(),
            List.of("tollgate"),
            new IssuerKeys(issuer.url(), Optional.empty(), clock),
            clock);
    Optional<String> token =
        Optional.of(TokenIssuer.token(KEY, issuer.claims(issuer.url(), "tollgate")));
    assertPassed(discovering.decide(token, List.of()));
    assertThat(issuer.requests()).isEqualTo(2);
  }

  @Test
  void documents_of_an_issuer_that_say_something_else_let_nobody_in() {
    for (Map.Entry<String, String> wrong :
        List.of(
            Map.entry(
                "/.well-known/openid-configuration",
                "{\"issuer\":\"https://evil.example\",\"jwks_uri\":\"" + issuer.keySet() + "\"}"),
            Map.entry("/.well-known/openid-configuration", "garbage"),
            Map.entry("/keys", "garbage"),
            Map.entry("/keys", " ".repeat(150_001)))) {
      try (TokenIssuer odd = new TokenIssuer(clock)) {
        odd.publish(KEY);
        odd.answer(wrong.getKey(), wrong.getValue());
        JwtAuthorizer discovering =
            new JwtAuthorizer(
                odd.url(),
                List.of("tollgate"),
                new IssuerKeys(odd.url(), Optional.empty(), clock),
                clock);
        String token = TokenIssuer.token(KEY, odd.claims(odd.url(), "tollgate"));
        Decision verdict = discovering.decide(Optional.of(token), List.of());
        assertThat(verdict).isInstanceOf(Decision.Refused.class);
        assertThat(((Decision.Refused) verdict).trouble()).as(wrong.getKey()).isNotEmpty();
      }
    }
  }

  @Test
  void a_token_of_four_megabytes_does_not_hold() {
    String token = TokenIssuer.token(KEY, claims());
    String long4M =
        Base64.getUrlEncoder()
            .encodeToString("[".repeat(3_000_000).getBytes(StandardCharsets.US_ASCII));
    assertRefused(judge(long4M + token.substring(token.indexOf('.'))), "the token is malformed");
  }
}
