package dev.tollgate.handlers.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.ECDSASigner;
import com.nimbusds.jose.jwk.Curve;
import com.nimbusds.jose.jwk.ECKey;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.gen.ECKeyGenerator;
import com.nimbusds.jose.util.Base64URL;
import com.sun.net.httpserver.HttpServer;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Subject;
import dev.tollgate.handlers.LambdaEvents;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tenants and subjects in the claims of valid tokens. */
final class AttachedTokensTest {
  private static final ECKey KEY = key();

  private HttpServer issuer;
  private String url;

  private static ECKey key() {
    try {
      return new ECKeyGenerator(Curve.P_256).keyID("one").generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @BeforeEach
  void publish() throws IOException {
    issuer = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    url = "http://127.0.0.1:" + issuer.getAddress().getPort();
    answer(
        "/.well-known/openid-configuration",
        "{\"issuer\":\"" + url + "\",\"jwks_uri\":\"" + url + "/keys\"}");
    answer("/keys", new JWKSet(KEY).toString(/* publicKeysOnly= */ true));
    issuer.start();
  }

  private void answer(String path, String body) {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    issuer.createContext(
        path,
        exchange -> {
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  @AfterEach
  void stop() {
    issuer.stop(0);
  }

  /** The caller whose token has these claims, as JSON. */
  private TenantSource.Caller caller(String tenant, String subject) throws JOSEException {
    String input =
        Base64URL.encode("{\"alg\":\"ES256\",\"kid\":\"one\"}")
            + "."
            + Base64URL.encode(
                """
                {"iss":"%s","aud":"chat","exp":9000000000,"tenant":%s,"sub":%s}"""
                    .formatted(url, tenant, subject));
    String token =
        input
            + "."
            + new ECDSASigner(KEY)
                .sign(new JWSHeader(JWSAlgorithm.ES256), input.getBytes(StandardCharsets.US_ASCII));
    return TenantSource.of(
            Map.of(
                "TOKEN_PLACE", "query:token",
                "TOKEN_ISSUER", url,
                "TOKEN_AUDIENCES", "chat",
                "TOKEN_ALGORITHMS", "ES256",
                "TOKEN_CLOCK_SKEW_SECONDS", "0",
                "TENANT_CLAIM", "tenant",
                "SUBJECT_CLAIM", "sub"),
            InstantSource.system())
        .caller(LambdaEvents.handshake(Map.of("token", token)));
  }

  @Test
  void claims_name_tenant_and_subject() throws JOSEException {
    TenantId acme = new TenantId("acme");
    assertThat(caller("\"acme\"", "\"änn\""))
        .isEqualTo(
            new TenantSource.Caller(
                acme, SessionId.of(Subject.of(acme, "änn")), Optional.of("änn")));
  }

  @ParameterizedTest
  @ValueSource(strings = {"7", "[\"acme\"]", "null", "\"\"", "\"ann@private.example\""})
  void malformed_tenants_are_refused_and_not_repeated(String tenant) {
    assertThatThrownBy(() -> caller(tenant, "\"ann\""))
        .isInstanceOf(InvalidToken.class)
        .satisfies(
            refused ->
                assertThat(((InvalidToken) refused).reason())
                    .startsWith("claim tenant: ")
                    .doesNotContain("private"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"\"ann\\ud800\"", "\"ann\\udc00\"", "\"\\udc00\\ud800\""})
  void subjects_without_an_encoding_of_their_own_are_refused(String subject) {
    assertThatThrownBy(() -> caller("\"acme\"", subject))
        .isInstanceOf(InvalidToken.class)
        .hasFieldOrPropertyWithValue("reason", "the subject is not Unicode text");
  }
}
