package dev.tollgate.handlers.jwt;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import dev.tollgate.core.Unavailable;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;

/** The public keys of an issuer, which are kept in memory and fetched again as they age. */
final class IssuerKeys {
  /** Keys of this age are fetched again. A withdrawn key is accepted for as long. */
  static final Duration FRESH = Duration.ofHours(1);

  /** While fetches fail, keys are accepted up to this age. */
  static final Duration KEPT = Duration.ofHours(24);

  /**
   * The shortest time between two fetches. It bounds the requests that invented key ids and
   * failures cause, and delays the first token of a new key.
   */
  static final Duration BETWEEN_FETCHES = Duration.ofSeconds(30);

  private final KeySetReader reader;
  private final InstantSource clock;
  private JWKSet keys = new JWKSet();
  private Instant fetchedAt = Instant.MIN;
  private Instant triedAt = Instant.MIN;
  private Optional<Unavailable> failure = Optional.empty();

  IssuerKeys(KeySetReader reader, InstantSource clock) {
    this.reader = reader;
    this.clock = clock;
  }

  /**
   * The key that a token names; empty if the issuer has no such key.
   *
   * @throws Unavailable if the keys, or a newer version that may have the key, cannot be fetched
   */
  synchronized Optional<JWK> find(JWSHeader header) {
    JWKSelector selector = new JWKSelector(JWKMatcher.forJWSHeader(header));
    Instant now = clock.instant();
    if (!isWithin(FRESH, fetchedAt, now)) {
      refresh(now);
    }
    if (selector.select(keys).isEmpty()) {
      refresh(now);
    }
    Optional<JWK> found =
        isWithin(KEPT, fetchedAt, now)
            ? selector.select(keys).stream().findFirst()
            : Optional.empty();
    if (found.isEmpty() && failure.isPresent()) {
      throw failure.get();
    }
    return found;
  }

  private static boolean isWithin(Duration age, Instant since, Instant now) {
    return since != Instant.MIN && now.isBefore(since.plus(age));
  }

  private void refresh(Instant now) {
    if (isWithin(BETWEEN_FETCHES, triedAt, now)) {
      return;
    }
    triedAt = now;
    try {
      keys = JWKSet.parse(reader.read());
      fetchedAt = now;
      failure = Optional.empty();
    } catch (Unavailable e) {
      failure = Optional.of(new Unavailable("the keys of the issuer: " + e.reason()));
    } catch (ParseException | RuntimeException e) {
      // The parser fails with a NullPointerException where JSON has a null.
      failure = Optional.of(new Unavailable("the keys of the issuer", e));
    }
  }
}
