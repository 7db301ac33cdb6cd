package dev.tollgate.local.testing;

import com.nimbusds.jose.JOSEException;
import com.nimbusds.jose.JWSAlgorithm;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.crypto.RSASSASigner;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.jwk.gen.RSAKeyGenerator;
import com.nimbusds.jwt.JWTClaimsSet;
import com.nimbusds.jwt.SignedJWT;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Date;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;

/**
 * An issuer of JSON Web Tokens with keys of its own, which it publishes on the loopback address.
 */
public final class TokenIssuer implements AutoCloseable {
  private final InstantSource clock;
  private final HttpServer server;
  private final List<RSAKey> published = new CopyOnWriteArrayList<>();
  private final Map<String, Supplier<String>> documents = new ConcurrentHashMap<>();
  private final AtomicInteger requests = new AtomicInteger();

  /** An issuer that publishes no key yet. */
  public TokenIssuer(InstantSource clock) {
    this.clock = clock;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    documents.put(
        "/keys",
        () -> new JWKSet(List.<JWK>copyOf(published)).toString(/* publicKeysOnly= */ true));
    documents.put(
        "/.well-known/openid-configuration",
        () -> "{\"issuer\":\"" + url() + "\",\"jwks_uri\":\"" + keySet() + "\"}");
    server.createContext(
        "/",
        exchange -> {
          requests.incrementAndGet();
          Supplier<String> document = documents.get(exchange.getRequestURI().getPath());
          byte[] body = document == null ? new byte[0] : bytes(document.get());
          exchange.sendResponseHeaders(document == null ? 404 : 200, body.length);
          exchange.getResponseBody().write(body);
          exchange.close();
        });
    server.start();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** A key of this name, which is not published. */
  public static RSAKey key(String name) {
    try {
      return new RSAKeyGenerator(2_048).keyID(name).generate();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Publishes a key, or takes it back. */
  public void publish(RSAKey... keys) {
    published.clear();
    published.addAll(List.of(keys));
  }

  /** Answers something else at one of its paths. */
  public void answer(String path, String document) {
    documents.put(path, () -> document);
  }

  /** Its own address. */
  public String url() {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /** Where its key set is. */
  public URI keySet() {
    return URI.create(url() + "/keys");
  }

  /** How often it was asked for anything. */
  public int requests() {
    return requests.get();
  }

  /** The claims of a token that holds for five minutes. */
  public JWTClaimsSet.Builder claims(String issuer, String audience) {
    return new JWTClaimsSet.Builder()
        .issuer(issuer)
        .audience(audience)
        .subject("somebody")
        .issueTime(Date.from(clock.instant()))
        .expirationTime(Date.from(clock.instant().plusSeconds(300)));
  }

  /** A token, signed with RS256. */
  public static String token(RSAKey key, JWTClaimsSet.Builder claims) {
    return token(new JWSHeader.Builder(JWSAlgorithm.RS256).keyID(key.getKeyID()), key, claims);
  }

  /** A token with a header of its own. */
  public static String token(JWSHeader.Builder header, RSAKey key, JWTClaimsSet.Builder claims) {
    try {
      SignedJWT jwt = new SignedJWT(header.build(), claims.build());
      jwt.sign(new RSASSASigner(key));
      return jwt.serialize();
    } catch (JOSEException e) {
      throw new IllegalStateException(e);
    }
  }

  @Override
  public void close() {
    server.stop(0);
  }
}
