package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jwt.JWTClaimsSet;
import dev.tollgate.local.testing.TokenIssuer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.net.http.WebSocketHandshakeException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The chat of {@code examples/attach}, whose handshakes carry tokens of an issuer. */
@Tag("nightly")
final class AttachedTokensIT {
  private static final String ISSUER = "https://issuer.example";
  private static final String AUDIENCE = "chat";
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final RSAKey KEY = TokenIssuer.key("first");

  @TempDir private static Path checkout;

  /** The deployment's, which the issuer needs before there is one. */
  private InstantSource clock = InstantSource.system();

  @Test
  void a_valid_token_opens_a_socket_of_its_tenant_and_no_other_does() throws Exception {
    try (TokenIssuer issuer = new TokenIssuer(() -> clock.instant());
        LocalDeployment deployment = LocalDeployment.attached(assembly(issuer))) {
      clock = deployment.clock();
      issuer.publish(KEY);
      assertThat(deployment.onboard("acme", "gold", "{}").status()).isEqualTo(201);
      JWTClaimsSet.Builder good = claims(issuer, AUDIENCE, "acme");

      assertThat(open(deployment, TokenIssuer.token(KEY, good))).isEqualTo("chat");
      int fetches = issuer.requests();
      assertThat(
              Stream.of(
                      TokenIssuer.token(TokenIssuer.key("first"), good),
                      TokenIssuer.token(TokenIssuer.key("unknown"), good),
                      TokenIssuer.token(KEY, claims(issuer, "mail", "acme")),
                      TokenIssuer.token(KEY, claims(issuer, AUDIENCE, "unknown")),
                      TokenIssuer.token(
                          KEY, claims(issuer, AUDIENCE, "acme").expirationTime(new Date(0))),
                      "a.b.c")
                  .map(token -> open(deployment, token)))
          .containsOnly("403");
      assertThat(issuer.requests()).as("fetches of keys are rare").isEqualTo(fetches);
      assertThat(open(deployment)).as("no token").isEqualTo("401");
      assertThat(deployment.control("GET", "/tenants/acme").body().path("connections").asInt())
          .isEqualTo(1);
    }
  }

  private static Path assembly(TokenIssuer issuer) throws Exception {
    Path assembly =
        AttachedChat.synthesize(
            checkout,
            """
            tenants(
                new AttachedApi.TenantSource.WebToken(
                    new AttachedApi.TokenPlace.Subprotocol(),
                    new SessionAccess.Jwt("%s", java.util.List.of("%s"), "tenant"),
                    java.util.Optional.of("sub")))"""
                .formatted(ISSUER, AUDIENCE));
    // The construct accepts https alone.
    try (Stream<Path> files = Files.walk(assembly)) {
      for (Path file : files.filter(each -> each.toString().endsWith(".template.json")).toList()) {
        Files.writeString(file, Files.readString(file).replace(ISSUER, issuer.url()));
      }
    }
    return assembly;
  }

  private static JWTClaimsSet.Builder claims(TokenIssuer issuer, String audience, String tenant) {
    return issuer.claims(issuer.url(), audience).claim("tenant", tenant);
  }

  /** The subprotocol of the new socket, or the status that refused it. */
  private static String open(LocalDeployment deployment, String... token) {
    WebSocket.Builder builder = HTTP.newWebSocketBuilder();
    List.of(token).forEach(each -> builder.subprotocols("chat", "tollgate.bearer." + each));
    String query = "?workspace=acme&name=ann";
    try {
      return builder
          .buildAsync(
              URI.create(deployment.outputs().get("WebSocketURL") + query),
              new WebSocket.Listener() {})
          .join()
          .getSubprotocol();
    } catch (CompletionException refused) {
      return Integer.toString(
          ((WebSocketHandshakeException) refused.getCause()).getResponse().statusCode());
    }
  }
}
