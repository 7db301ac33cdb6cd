package dev.tollgate.handlers.jwt;

import com.nimbusds.jose.util.JSONObjectUtils;
import dev.tollgate.core.Unavailable;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.text.ParseException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The JWK set that the issuer's discovery document names (OpenID Connect Discovery 1.0, section 4).
 * Follows no redirects.
 */
final class PublishedKeySet implements KeySetReader {
  /**
   * The longest time for one document, from the connection to the last byte. Both documents then
   * take at most six of the 25 seconds of the authorizer.
   */
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  private static final int MAX_BYTES = 150_000;
  private static final Set<String> LOOPBACK = Set.of("127.0.0.1", "localhost", "[::1]");

  private final HttpClient http =
      HttpClient.newBuilder()
          .connectTimeout(TIMEOUT)
          .followRedirects(HttpClient.Redirect.NEVER)
          .build();
  private final String issuer;
  private final Duration timeout;

  PublishedKeySet(String issuer) {
    this(issuer, TIMEOUT);
  }

  PublishedKeySet(String issuer, Duration timeout) {
    this.issuer = issuer;
    this.timeout = timeout;
  }

  @Override
  public String read() {
    String discovery = issuer.replaceFirst("/$", "") + "/.well-known/openid-configuration";
    Map<String, Object> document;
    try {
      document = JSONObjectUtils.parse(fetch(discovery));
    } catch (ParseException e) {
      throw new Unavailable(discovery + ": not JSON");
    }
    if (!issuer.equals(document.get("issuer"))) {
      throw new Unavailable(discovery + ": its issuer is not " + issuer);
    }
    return fetch(String.valueOf(document.get("jwks_uri")));
  }

  private String fetch(String address) {
    URI location = location(address);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    CompletableFuture<HttpResponse<Void>> answer =
        http.sendAsync(
            HttpRequest.newBuilder(location).header("accept", "application/json").build(),
            HttpResponse.BodyHandlers.ofByteArrayConsumer(
                part -> part.ifPresent(bytes -> append(body, bytes))));
    try {
      int status = answer.get(timeout.toMillis(), TimeUnit.MILLISECONDS).statusCode();
      if (status != 200) {
        throw new Unavailable(location + ": status " + status + " (expected: 200)");
      }
      return body.toString(StandardCharsets.UTF_8);
    } catch (ExecutionException failed) {
      throw new Unavailable(location.toString(), failed);
    } catch (TimeoutException late) {
      throw new Unavailable(location + ": no answer within " + timeout);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new Unavailable(location.toString(), interrupted);
    } finally {
      answer.cancel(true);
    }
  }

  private static void append(ByteArrayOutputStream body, byte[] bytes) {
    if (body.size() + bytes.length > MAX_BYTES) {
      throw new IllegalStateException("larger than " + MAX_BYTES + " bytes");
    }
    body.writeBytes(bytes);
  }

  /** A URL of scheme https; http only on the loopback address, where local runs have an issuer. */
  private static URI location(String address) {
    try {
      URI location = URI.create(address);
      String host = Optional.ofNullable(location.getHost()).orElse("");
      boolean local = "http".equals(location.getScheme()) && LOOPBACK.contains(host);
      if (local || (!host.isEmpty() && "https".equals(location.getScheme()))) {
        return location;
      }
    } catch (IllegalArgumentException malformed) {
      throw new Unavailable("jwks_uri: " + address + " (expected: an https URL)", malformed);
    }
    throw new Unavailable("jwks_uri: " + address + " (expected: an https URL)");
  }
}
