package dev.tollgate.local.gateway.jwt;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyUse;
import com.nimbusds.jose.jwk.RSAKey;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/**
 * The public keys of one issuer of JSON Web Tokens, fetched and cached as API Gateway does (API
 * Gateway Developer Guide, "Controlling access to HTTP APIs with JWT authorizers", and "Quotas for
 * configuring and running an HTTP API").
 */
public final class IssuerKeys {
  /** "API Gateway can cache the public key for two hours." */
  private static final Duration KEPT = Duration.ofHours(2);

  /**
   * An unknown key id causes a fetch, but at most one per interval, so that invented key ids do not
   * become requests to the issuer. AWS does not document its interval.
   */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(10);

  private static final Duration TIMEOUT = Duration.ofMillis(1_500);
  private static final int MAX_BYTES = 150_000;

  private final String issuer;
  private final Optional<URI> location;
  private final InstantSource clock;
  private final HttpClient http = HttpClient.newBuilder().connectTimeout(TIMEOUT).build();
  private JWKSet keys = new JWKSet();
  private Instant since = Instant.MIN;

  /**
   * The keys of an issuer, not fetched yet.
   *
   * @param issuer the issuer's URL
   * @param location where its key set (RFC 7517) is, a URL of scheme file, http or https; without
   *     it, the location is in the issuer's discovery document (OpenID Connect Discovery 1.0,
   *     section 4)
   * @param clock by which keys age
   */
  public IssuerKeys(String issuer, Optional<URI> location, InstantSource clock) {
    this.issuer = issuer;
    this.location = location;
    this.clock = clock;
  }

  /**
   * The signature key with an id.
   *
   * @throws IOException if the issuer's keys cannot be fetched
   */
  synchronized Optional<RSAKey> find(String keyId) throws IOException {
    Instant now = clock.instant();
    if (since.equals(Instant.MIN) || !now.isBefore(since.plus(KEPT))) {
      fetch(now);
    }
    Optional<RSAKey> found = known(keyId);
    if (found.isEmpty() && !now.isBefore(since.plus(LOOK_AGAIN))) {
      fetch(now);
      found = known(keyId);
    }
    return found;
  }

  private Optional<RSAKey> known(String keyId) {
    return keys.getKeys().stream()
        .filter(RSAKey.class::isInstance)
        .map(RSAKey.class::cast)
        .filter(key -> keyId.equals(key.getKeyID()))
        .filter(key -> key.getKeyUse() == null || key.getKeyUse().equals(KeyUse.SIGNATURE))
        .findFirst();
  }

  private void fetch(Instant now) throws IOException {
    URI keySet = location.isPresent() ? location.get() : discover();
    try {
      keys = JWKSet.parse(read(keySet));
      since = now;
    } catch (ParseException e) {
      throw new IOException(keySet + ": " + e.getMessage() + " (expected: a JWK set)", e);
    }
  }

  private URI discover() throws IOException {
    URI location = URI.create(issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration");
    JsonNode document = Json.read(read(location));
    String named = document.path("issuer").asText();
    if (!named.equals(issuer)) {
      throw new IOException(location + ": issuer: " + named + " (expected: " + issuer + ")");
    }
    try {
      return URI.create(document.path("jwks_uri").asText());
    } catch (IllegalArgumentException e) {
      throw new IOException(location + ": jwks_uri: " + e.getMessage() + " (expected: a URL)", e);
    }
  }

  private String read(URI location) throws IOException {
    try (InputStream content = open(location)) {
      byte[] bytes = content.readNBytes(MAX_BYTES + 1);
      if (bytes.length > MAX_BYTES) {
        throw new IOException(location + ": too long (expected: at most " + MAX_BYTES + " bytes)");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    }
  }

  private InputStream open(URI location) throws IOException {
    if ("file".equals(location.getScheme())) {
      return Files.newInputStream(Path.of(location));
    }
    try {
      HttpResponse<InputStream> response =
          http.send(
              HttpRequest.newBuilder(location).timeout(TIMEOUT).build(),
              HttpResponse.BodyHandlers.ofInputStream());
      if (response.statusCode() != 200) {
        throw new IOException(location + ": status " + response.statusCode() + " (expected: 200)");
      }
      return response.body();
    } catch (IllegalArgumentException e) {
      throw new IOException(location + ": " + e.getMessage() + " (expected: a URL)", e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException(location + ": interrupted", e);
    }
  }
}
