package dev.tollgate.bench.client;

import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Signature;
import java.security.interfaces.RSAPublicKey;
import java.security.spec.PKCS8EncodedKeySpec;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Base64;

/** Issues JSON Web Tokens, signed with the key that the local cloud accepts. */
public final class Issuer {
  /** The claim {@code iss} of its tokens. */
  public static final String NAME = "https://attacks.example/";

  /** The claim {@code aud} of its tokens. */
  public static final String AUDIENCE = "attacks";

  private static final String KEY_ID = "attacks";
  private static final int KEY_BITS = 2_048;
  private static final Duration LIFETIME = Duration.ofMinutes(15);

  private final PrivateKey key;

  private Issuer(PrivateKey key) {
    this.key = key;
  }

  /**
   * Creates a key pair: the private key in {@code issuer.key}, the public key in {@code keys.json},
   * a JWK set (RFC 7517).
   *
   * @param arguments the directory of both files
   */
  public static void main(String... arguments) throws IOException, GeneralSecurityException {
    Path directory = Files.createDirectories(Path.of(arguments[0]));
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(KEY_BITS);
    KeyPair pair = generator.generateKeyPair();
    Files.write(directory.resolve("issuer.key"), pair.getPrivate().getEncoded());
    RSAPublicKey open = (RSAPublicKey) pair.getPublic();
    ObjectNode keys = Http.JSON.createObjectNode();
    keys.putArray("keys")
        .addObject()
        .put("kty", "RSA")
        .put("use", "sig")
        .put("alg", "RS256")
        .put("kid", KEY_ID)
        .put("n", base64(open.getModulus()))
        .put("e", base64(open.getPublicExponent()));
    Files.writeString(directory.resolve("keys.json"), keys.toString());
  }

  static Issuer read(Path file) {
    try {
      return new Issuer(
          KeyFactory.getInstance("RSA")
              .generatePrivate(new PKCS8EncodedKeySpec(Files.readAllBytes(file))));
    } catch (IOException | GeneralSecurityException e) {
      throw new IllegalStateException("no issuer of tokens: " + e, e);
    }
  }

  /** Issues a token for a tenant (claim {@code tenantId}) and subject at an instant. */
  public String token(String tenantId, String subject, Instant now) {
    ObjectNode header =
        Http.JSON.createObjectNode().put("alg", "RS256").put("typ", "JWT").put("kid", KEY_ID);
    ObjectNode claims =
        Http.JSON
            .createObjectNode()
            .put("iss", NAME)
            .put("aud", AUDIENCE)
            .put("sub", subject)
            .put("tenantId", tenantId)
            .put("iat", now.getEpochSecond())
            .put("exp", now.plus(LIFETIME).getEpochSecond());
    String signed = base64(header.toString()) + "." + base64(claims.toString());
    try {
      Signature signature = Signature.getInstance("SHA256withRSA");
      signature.initSign(key);
      signature.update(signed.getBytes(StandardCharsets.US_ASCII));
      return signed + "." + base64(signature.sign());
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("the token cannot be signed: " + e, e);
    }
  }

  private static String base64(String text) {
    return base64(text.getBytes(StandardCharsets.UTF_8));
  }

  /** The unsigned bytes of a number, without the sign byte. */
  private static String base64(BigInteger number) {
    byte[] bytes = number.toByteArray();
    int sign = bytes.length > 1 && bytes[0] == 0 ? 1 : 0;
    return base64(Arrays.copyOfRange(bytes, sign, bytes.length));
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }
}
