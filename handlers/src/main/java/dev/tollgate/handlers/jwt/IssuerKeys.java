package dev.tollgate.handlers.jwt;

import com.nimbusds.jose.JWSHeader;
import com.nimbusds.jose.jwk.JWK;
import com.nimbusds.jose.jwk.JWKMatcher;
import com.nimbusds.jose.jwk.JWKSelector;
import com.nimbusds.jose.jwk.JWKSet;
import com.nimbusds.jose.jwk.KeyOperation;
import com.nimbusds.jose.util.JSONObjectUtils;
import dev.tollgate.core.Unavailable;
import java.text.ParseException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** A limit of the work for one token, if many keys share an id. */
  static final int MAX_KEYS_OF_ONE_ID = 5;

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
   * The keys that a token names, usually one; empty if the issuer has no such key. While fetches
   * fail, a key that is not among the kept ones counts as unknown: an invented key id must not make
   * the caller fail.
   *
   * @throws Unavailable if the keys cannot be fetched, and none are kept
   */
  synchronized List<JWK> find(JWSHeader header) {
    JWKSelector selector = new JWKSelector(JWKMatcher.forJWSHeader(header));
    Instant now = clock.instant();
    if (!isWithin(FRESH, fetchedAt, now)) {
      refresh(now);
    }
    if (selector.select(keys).isEmpty()) {
      refresh(now);
    }
    if (!isWithin(KEPT, fetchedAt, now)) {
      throw failure.orElseThrow();
    }
    return selector.select(keys).stream().limit(MAX_KEYS_OF_ONE_ID).toList();
  }

  /** Whether an age is known and below a limit. It is unknown after the clock went back. */
  private static boolean isWithin(Duration age, Instant since, Instant now) {
    return since != Instant.MIN && !now.isBefore(since) && now.isBefore(since.plus(age));
  }

  private void refresh(Instant now) {
    if (isWithin(BETWEEN_FETCHES, triedAt, now)) {
      return;
    }
    triedAt = now;
    try {
      keys = understood(reader.read());
      fetchedAt = now;
      failure = Optional.empty();
    } catch (Unavailable e) {
      failure = Optional.of(new Unavailable("the keys of the issuer: " + e.reason()));
    } catch (ParseException | RuntimeException e) {
      failure = Optional.of(new Unavailable("the keys of the issuer", e));
    }
  }

  /** The keys of a JWK set that may verify. RFC 7517, section 5, ignores those not understood. */
  private static JWKSet understood(String document) throws ParseException {
    if (!(JSONObjectUtils.parse(document).get("keys") instanceof List<?> listed)) {
      throw new ParseException("keys: absent or not a list", 0);
    }
    List<JWK> understood = new ArrayList<>();
    for (Object each : listed) {
      key(each).ifPresent(understood::add);
    }
    return new JWKSet(understood);
  }

  private static Optional<JWK> key(Object listed) {
    if (!(listed instanceof Map<?, ?> members)) {
      return Optional.empty();
    }
    Map<String, Object> named = new LinkedHashMap<>();
    members.forEach((name, value) -> named.put(String.valueOf(name), value));
    try {
      JWK key = JWK.parse(named);
      return key.getKeyOperations() == null || key.getKeyOperations().contains(KeyOperation.VERIFY)
          ? Optional.of(key)
          : Optional.empty();
    } catch (ParseException | RuntimeException notUnderstood) {
      // The parser also fails with exceptions that it does not declare.
      return Optional.empty();
    }
  }
}
