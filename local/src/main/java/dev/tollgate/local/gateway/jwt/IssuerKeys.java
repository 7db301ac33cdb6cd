package dev.tollgate.local.gateway.jwt;

import com.fasterxml.jackson.databind.JsonNode;
import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.RSAKey;
import com.nimbusds.jose.util.DefaultResourceRetriever;
import com.nimbusds.jose.util.ResourceRetriever;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
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

  private static final int TIMEOUT_MILLIS = 1_500;
  private static final int MAX_BYTES = 150_000;

  /** Follows no redirects. */
  private final ResourceRetriever documents =
      new DefaultResourceRetriever(TIMEOUT_MILLIS, TIMEOUT_MILLIS, MAX_BYTES) {
        @Override
        protected HttpURLConnection openHTTPConnection(URL url) throws IOException {
          HttpURLConnection connection = super.openHTTPConnection(url);
          connection.setInstanceFollowRedirects(false);
          return connection;
        }
      };

  private final String issuer;
  private final Optional<URI> location;
  private final InstantSource clock;
  private JWKSet keys = new JWKSet();
  private Instant since = Instant.MIN;

  /**
   * The keys of an issuer, not fetched yet.
   *
   * @param issuer the issuer's URL
   * @param location where its key set (RFC 7517) is, a URL of scheme file, http or https; without
   *     it, the location is in the issuer's discovery document (OpenID Connect Discovery 1.0,
   *     section 4)
   * @param clock the clock for the age of keys
   */
  public IssuerKeys(String issuer, Optional<URI> location, InstantSource clock) {
    this.issuer = issuer;
    this.location = location;
    this.clock = clock;
  }

  /**
   * The key that a token is signed with, according to its header.
   *
   * @throws IOException if the issuer's keys cannot be fetched
   */
  synchronized Optional<RSAKey> find(JWSHeader header) throws IOException {
    JWKSelector selector = new JWKSelector(JWKMatcher.forJWSHeader(header));
    Instant now = clock.instant();
    if (!now.isBefore(since.plus(KEPT))) {
      fetch(now);
    }
    if (selector.select(keys).isEmpty() && !now.isBefore(since.plus(LOOK_AGAIN))) {
      fetch(now);
    }
    return selector.select(keys).stream().findFirst().map(JWK::toRSAKey);
  }

  private void fetch(Instant now) throws IOException {
    try {
      keys = JWKSet.parse(read(location.isPresent() ? location.get() : discover()));
      since = now;
    } catch (ParseException | IllegalArgumentException e) {
      throw new IOException(issuer + ": " + e.getMessage() + " (expected: URL of a JWK set)", e);
    }
  }

  private URI discover() throws IOException {
    URI location = URI.create(issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration");
    JsonNode document = Json.read(read(location));
    String named = document.path("issuer").asText();
    if (!named.equals(issuer)) {
      throw new IOException(location + ": issuer: " + named + " (expected: " + issuer + ")");
    }
    return URI.create(document.path("jwks_uri").asText());
  }

  private String read(URI location) throws IOException {
    try {
      return documents.retrieveResource(location.toURL()).getContent();
    } catch (IOException e) {
      throw new IOException(location + ": " + e.getMessage(), e);
    }
  }
}
