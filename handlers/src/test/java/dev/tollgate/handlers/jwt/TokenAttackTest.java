package dev.tollgate.handlers.jwt;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import dev.tollgate.core.Unavailable;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/** Attacks on the verification of tokens; a failing test is a defect. */
final class TokenAttackTest {
  private static final String ISSUER = "https://login.example.com/";
  private static final Instant START = Instant.parse("2026-01-01T00:00:00Z");
  private static final RSAKey KEY = rsa("one");
  private static final RSAKey NEXT = rsa("two");
  private static final RSAKey STRANGER = rsa("stranger");

  private Instant now = START;
  private String document = new JWKSet(List.<JWK>of(KEY)).toString(true);
  private boolean failing;
  private int fetches;
  private final TokenVerifier verifier =
      new TokenVerifier(
          new TokenVerifier.Accepted(
              ISSUER, List.of("chat"), Set.of("RS256", "ES256", "ES384"), Duration.ofSeconds(60)),
          this::read,
          () -> now);

  private String read() {
    fetches++;
    if (failing) {
      throw new Unavailable("planted");
    }
    return document;
  }

  private static RSAKey rsa(String name) {
    try {
      return new RSAKeyGenerator(2_048).keyID(name).generate();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static String sign(RSAKey key, String header, String claims) {
    try {
      String input = Base64URL.encode(header) + "." + Base64URL.encode(claims);
      return input
          + "."
          + new RSASSASigner(key)
              .sign(new JWSHeader(JWSAlgorithm.RS256), input.getBytes(StandardCharsets.US_ASCII));
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private static String header(String kid) {
    return "{\"alg\":\"RS256\",\"kid\":\"" + kid + "\"}";
  }

  private static String claims(String more) {
    return "{\"iss\":\""
        + ISSUER
        + "\",\"aud\":\"chat\",\"sub\":\"ann\",\"tenant\":\"acme\",\"exp\":"
        + START.plus(Duration.ofDays(9)).getEpochSecond()
        + more
        + "}";
  }

  private static final List<String> WEIRD =
      List.of(
          "null",
          "0",
          "-1",
          "1e400",
          "1e99999",
          "99999999999999999999",
          "true",
          "\"\"",
          "\"x\"",
          "\"\\ud800\"",
          "[]",
          "[null]",
          "[[]]",
          "[1]",
          "[\"\"]",
          "[\"x\",null]",
          "{}",
          "{\"a\":null}",
          "{\"kty\":null}",
          "{\"kty\":\"RSA\",\"n\":null,\"e\":\"AQAB\"}",
          "{\"kty\":\"RSA\",\"n\":\"\",\"e\":\"\"}",
          "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"\",\"y\":\"\"}",
          "{\"kty\":\"EC\",\"crv\":null}",
          "{\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"\"}",
          "{\"kty\":\"oct\",\"k\":null}",
          "[\"AA\"]",
          "[\"!!\"]",
          "\"http:// bad\"",
          "[".repeat(1500) + "]".repeat(1500),
          "{\"a\":".repeat(700) + "1" + "}".repeat(700),
          "NaN",
          "");

  /** The function fails if anything but a check or Unavailable comes out. */
  @Test
  void strangers_headers_never_escape_as_another_exception() {
    Map<String, String> escaped = new TreeMap<>();
    for (String name :
        List.of(
            "alg",
            "kid",
            "typ",
            "cty",
            "crit",
            "b64",
            "jwk",
            "jku",
            "x5u",
            "x5t",
            "x5t#S256",
            "x5c",
            "enc",
            "zip",
            "p2c",
            "iss",
            "",
            "epk",
            "apu",
            "iv",
            "other")) {
      for (String value : WEIRD) {
        for (String head :
            List.of(
                "{\"alg\":\"RS256\",\"kid\":\"one\",\"" + name + "\":" + value + "}",
                "{\"" + name + "\":" + value + ",\"alg\":\"RS256\",\"kid\":\"one\"}",
                "{\"" + name + "\":" + value + "}",
                "{\"alg\":\"RS256\",\"" + name + "\":" + value + "}")) {
          tried(escaped, name + "=" + value, sign(STRANGER, head, claims("")));
        }
      }
    }
    for (String token :
        List.of(
            ".",
            "..",
            "...",
            "....",
            " . . ",
            "\u0000.\u0000.\u0000",
            "e30.e30.e30",
            "é.é.é",
            "\ud800.\ud800.\ud800",
            "bnVsbA.e30.AA",
            "W10.e30.AA",
            "eyJ9.e30.AA",
            ".".repeat(8000),
            "A".repeat(8192),
            "e30..",
            ".e30.",
            "e30.e30.",
            Base64URL.encode("null") + ".e30.AA")) {
      tried(escaped, token, token);
    }
    assertThat(escaped).isEmpty();
  }

  /** A token that the issuer signed, of a user who chooses some claims. */
  @Test
  void signed_claims_never_escape_as_another_exception() {
    Map<String, String> escaped = new TreeMap<>();
    for (String name :
        List.of("iss", "aud", "client_id", "exp", "nbf", "iat", "sub", "jti", "tenant", "", "x")) {
      for (String value : WEIRD) {
        tried(
            escaped,
            name + "=" + value,
            sign(KEY, header("one"), claims(",\"" + name + "\":" + value)));
        tried(
            escaped,
            name + "=" + value + " alone",
            sign(KEY, header("one"), "{\"" + name + "\":" + value + "}"));
      }
    }
    for (String body : List.of("null", "[]", "1", "\"x\"", "", " ", "{", "{}", "\ud800")) {
      tried(escaped, "body " + body, sign(KEY, header("one"), body));
    }
    assertThat(escaped).isEmpty();
  }

  private void tried(Map<String, String> escaped, String what, String token) {
    try {
      verifier.verify(token);
    } catch (Unavailable expected) {
      escaped.put(what, "Unavailable");
    } catch (Throwable other) {
      escaped.put(
          what.substring(0, Math.min(60, what.length())),
          other.toString() + " at " + other.getStackTrace()[0]);
    }
  }

  /** Keys are an hour's fresh, the issuer has a short outage, a stranger invents a kid. */
  @Test
  void a_stranger_does_not_make_the_function_fail_while_cached_keys_are_good() {
    String valid = sign(KEY, header("one"), claims(""));
    assertThat(verifier.verify(valid)).isInstanceOf(TokenCheck.Valid.class);
    failing = true;
    now = now.plusSeconds(31);
    Map<String, String> escaped = new TreeMap<>();
    tried(
        escaped,
        "unsigned garbage, invented kid",
        Base64URL.encode(header("invented")) + "." + Base64URL.encode(claims("")) + ".AA");
    assertThat(verifier.verify(valid)).isInstanceOf(TokenCheck.Valid.class);
    assertThat(escaped).isEmpty();
  }

  /** Control: without the stranger the first token of the new key is accepted at once. */
  @Test
  void without_a_stranger_a_rotated_key_is_accepted_at_once() {
    rotated(false);
  }

  @Test
  void a_stranger_does_not_make_valid_tokens_of_a_new_key_be_refused() {
    rotated(true);
  }

  private void rotated(boolean stranger) {
    verifier.verify(sign(KEY, header("one"), claims("")));
    now = now.plusSeconds(600);
    if (stranger) {
      verifier.verify(
          Base64URL.encode(header("invented")) + "." + Base64URL.encode(claims("")) + ".AA");
    }
    document = new JWKSet(List.<JWK>of(KEY, NEXT)).toString(true);
    now = now.plusSeconds(1);
    assertThat(verifier.verify(sign(NEXT, header("two"), claims(""))))
        .isInstanceOf(TokenCheck.Valid.class);
  }

  /** RFC 7517, section 5: implementations SHOULD ignore JWKs that they do not understand. */
  @Test
  void one_key_that_is_not_understood_does_not_take_the_others_away() {
    String good = KEY.toPublicJWK().toJSONString();
    Map<String, String> refused = new TreeMap<>();
    for (String odd :
        List.of(
            "{\"kty\":\"AKP\",\"alg\":\"ML-DSA-44\",\"kid\":\"pq\",\"pub\":\"AAAA\"}",
            "{\"kty\":\"EC\",\"crv\":\"brainpoolP256r1\",\"kid\":\"b\",\"x\":\"AA\",\"y\":\"AA\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"b\",\"x\":\"AA\"}",
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"kid\":\"b\",\"x\":\"AA\",\"y\":\"AA\"}",
            "{\"kty\":\"OKP\",\"crv\":\"Ed448\",\"kid\":\"e\",\"x\":\"AAAA\"}",
            "{\"kty\":\"OKP\",\"crv\":\"Unknown\",\"kid\":\"e\",\"x\":\"AAAA\"}",
            "{\"kty\":\"RSA\",\"kid\":\"r\",\"x5c\":[\"AAAA\"]}",
            "{\"kid\":\"nokty\"}",
            "null",
            good.replace("\"one\"", "\"ops\"")
                .replace("}", ",\"use\":\"sig\",\"key_ops\":[\"encrypt\"]}"),
            good.replace("\"one\"", "\"x5c\"").replace("}", ",\"x5c\":[\"AAAA\"]}"))) {
      document = "{\"keys\":[" + good + "," + odd + "]}";
      TokenVerifier fresh =
          new TokenVerifier(
              new TokenVerifier.Accepted(ISSUER, List.of("chat"), Set.of("RS256"), Duration.ZERO),
              this::read,
              () -> now);
      try {
        TokenCheck check = fresh.verify(sign(KEY, header("one"), claims("")));
        if (!(check instanceof TokenCheck.Valid)) {
          refused.put(odd, check.toString());
        }
      } catch (Unavailable e) {
        refused.put(odd, e.toString());
      }
    }
    assertThat(refused).isEmpty();
  }

  private TokenCheck onlyKey(String jwk, RSAKey signer, String kid) {
    document = "{\"keys\":[" + jwk + "]}";
    return verifier.verify(sign(signer, header(kid), claims("")));
  }

  @Test
  void a_key_for_encryption_does_not_verify() throws Exception {
    RSAKey enc = new RSAKey.Builder(KEY.toPublicJWK()).keyUse(KeyUse.ENCRYPTION).build();
    assertThat(onlyKey(enc.toJSONString(), KEY, "one")).isInstanceOf(TokenCheck.Invalid.class);
  }

  @Test
  void a_key_whose_operations_are_encrypt_does_not_verify() {
    String jwk = KEY.toPublicJWK().toJSONString().replace("}", ",\"key_ops\":[\"encrypt\"]}");
    assertThat(onlyKey(jwk, KEY, "one")).isInstanceOf(TokenCheck.Invalid.class);
  }

  @Test
  void a_key_of_another_alg_does_not_verify() {
    String jwk = KEY.toPublicJWK().toJSONString().replace("}", ",\"alg\":\"PS256\"}");
    assertThat(onlyKey(jwk, KEY, "one")).isInstanceOf(TokenCheck.Invalid.class);
  }

  @Test
  void the_second_of_two_keys_with_the_same_id_verifies_too() {
    document =
        "{\"keys\":["
            + KEY.toPublicJWK().toJSONString()
            + ","
            + NEXT.toPublicJWK().toJSONString().replace("\"two\"", "\"one\"")
            + "]}";
    assertThat(verifier.verify(sign(KEY, header("one"), claims(""))))
        .isInstanceOf(TokenCheck.Valid.class);
    assertThat(verifier.verify(sign(NEXT, header("one"), claims(""))))
        .isInstanceOf(TokenCheck.Valid.class);
  }

  /** Times beyond what a long of milliseconds holds. */
  @Test
  void times_do_not_wrap_around() {
    List<String> wrong = new ArrayList<>();
    String base = "{\"iss\":\"" + ISSUER + "\",\"aud\":\"chat\",\"tenant\":\"acme\"";
    long later = START.plusSeconds(1000).getEpochSecond();
    for (String more :
        List.of(
            ",\"exp\":" + later + ",\"nbf\":9223372036854775807",
            ",\"exp\":" + later + ",\"nbf\":1e300",
            ",\"exp\":" + later + ",\"iat\":9223372036854775807",
            ",\"exp\":" + later + ",\"iat\":18446744073709552",
            ",\"exp\":-18446744070000000",
            ",\"exp\":-18446742000000000",
            ",\"exp\":-9223372036854775808",
            ",\"exp\":0",
            ",\"exp\":-1",
            ",\"exp\":\"" + later + "\"",
            ",\"exp\":[" + later + "]",
            ",\"exp\":null",
            ",\"exp\":true")) {
      if (verifier.verify(sign(KEY, header("one"), base + more + "}"))
          instanceof TokenCheck.Valid) {
        wrong.add(more);
      }
    }
    assertThat(wrong).isEmpty();
  }

  /** RFC 7515, section 5.2: a part that is not base64url without other characters is invalid. */
  @Test
  void a_malformed_signature_is_refused() {
    String valid = sign(KEY, header("one"), claims(""));
    List<String> accepted = new ArrayList<>();
    for (String odd :
        List.of(
            valid + "!!!",
            valid + "==",
            valid + " ",
            "\n" + valid,
            valid.substring(0, valid.length() - 10)
                + " \r\n"
                + valid.substring(valid.length() - 10),
            valid + "\u0000",
            valid + "é")) {
      if (verifier.verify(odd) instanceof TokenCheck.Valid) {
        accepted.add(odd.substring(odd.length() - 14).replaceAll("\\s", "_"));
      }
    }
    assertThat(accepted).isEmpty();
  }

  @Test
  void critical_and_unencoded_headers_are_refused() {
    List<String> accepted = new ArrayList<>();
    for (String more :
        List.of(
            "\"crit\":[\"b64\"],\"b64\":true",
            "\"crit\":[\"b64\"],\"b64\":false",
            "\"b64\":false",
            "\"crit\":[\"x\"],\"x\":1",
            "\"crit\":[]",
            "\"crit\":[\"exp\"]",
            "\"crit\":[\"kid\"]",
            "\"crit\":[\"x\"]",
            "\"cty\":\"JWT\"",
            "\"typ\":\"dpop+jwt\"",
            "\"typ\":\"logout+jwt\"",
            "\"kid\":\"one\"")) {
      try {
        if (verifier.verify(
                sign(KEY, "{\"alg\":\"RS256\",\"kid\":\"one\"," + more + "}", claims("")))
            instanceof TokenCheck.Valid) {
          accepted.add(more);
        }
      } catch (RuntimeException e) {
        accepted.add(more + " " + e);
      }
    }
    assertThat(accepted).isEmpty();
  }

  /** The clock of a new instance is an hour ahead when it first asks, and is corrected. */
  @Test
  void a_clock_that_goes_back_does_not_stop_fetches() {
    failing = true;
    now = START.plusSeconds(3600);
    Map<String, String> escaped = new TreeMap<>();
    String valid = sign(KEY, header("one"), claims(""));
    tried(escaped, "first", valid);
    failing = false;
    now = START.plusSeconds(60);
    assertThat(verifier.verify(valid)).isInstanceOf(TokenCheck.Valid.class);
  }

  @Test
  void duplicated_claims_are_refused() {
    TokenCheck check = verifier.verify(sign(KEY, header("one"), claims(",\"tenant\":\"other\"")));
    assertThat(check).isInstanceOf(TokenCheck.Invalid.class);
  }

  @Test
  void concurrent_first_requests_fetch_once() throws Exception {
    List<Thread> threads = new ArrayList<>();
    String valid = sign(KEY, header("one"), claims(""));
    for (int i = 0; i < 32; i++) {
      Thread thread = new Thread(() -> verifier.verify(valid));
      threads.add(thread);
      thread.start();
    }
    for (Thread thread : threads) {
      thread.join();
    }
    assertThat(fetches).isEqualTo(1);
  }
}
