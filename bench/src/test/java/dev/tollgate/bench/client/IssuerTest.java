package dev.tollgate.bench.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.Signature;
import java.security.spec.RSAPublicKeySpec;
import java.time.Instant;
import java.util.Base64;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IssuerTest {
  @TempDir private Path directory;

  @Test
  void a_token_verifies_with_the_published_key() throws IOException, GeneralSecurityException {
    Issuer.main(directory.toString());
    Issuer issuer = Issuer.read(directory.resolve("issuer.key"));

    String[] parts = issuer.token("acme", "ann", Instant.ofEpochSecond(1_000)).split("\\.", -1);

    JsonNode key = Http.read(Files.readString(directory.resolve("keys.json"))).path("keys").path(0);
    Signature signature = Signature.getInstance("SHA256withRSA");
    signature.initVerify(
        KeyFactory.getInstance("RSA")
            .generatePublic(new RSAPublicKeySpec(number(key, "n"), number(key, "e"))));
    signature.update((parts[0] + "." + parts[1]).getBytes(StandardCharsets.US_ASCII));
    assertThat(signature.verify(Base64.getUrlDecoder().decode(parts[2]))).isTrue();
    JsonNode claims =
        Http.read(new String(Base64.getUrlDecoder().decode(parts[1]), StandardCharsets.UTF_8));
    assertThat(claims.path("tenantId").asText()).isEqualTo("acme");
    assertThat(claims.path("sub").asText()).isEqualTo("ann");
    assertThat(claims.path("exp").asLong()).isEqualTo(1_900);
  }

  @Test
  void an_issuer_without_key_is_refused() {
    assertThatThrownBy(() -> Issuer.read(directory.resolve("issuer.key")))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageStartingWith("no issuer of tokens: ");
  }

  private static BigInteger number(JsonNode key, String name) {
    return new BigInteger(1, Base64.getUrlDecoder().decode(key.path(name).asText()));
  }
}
