package dev.tollgate.local.services;

import java.net.http.HttpRequest;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.Optional;

/**
 * The secret that an engine demands in each request.
 *
 * <p>An engine listens at a port of this machine and asks for no credentials. With the key it takes
 * calls from its {@link Forwarder} alone: those that came through the front door.
 */
final class EngineKey {
  private static final String HEADER = "Engine-Key";
  private static final int BYTES = 16;

  private final String secret;

  /** A new key. */
  EngineKey() {
    byte[] random = new byte[BYTES];
    new SecureRandom().nextBytes(random);
    this.secret = HexFormat.of().formatHex(random);
  }

  /** The name of the header that bears it. */
  static String header() {
    return HEADER;
  }

  /** Adds it to a request. */
  HttpRequest.Builder addTo(HttpRequest.Builder request) {
    return request.setHeader(HEADER, secret);
  }

  /** Whether a request bears it. */
  boolean opens(Optional<String> header) {
    return header.filter(value -> MessageDigest.isEqual(bytes(value), bytes(secret))).isPresent();
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
