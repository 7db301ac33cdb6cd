package dev.tollgate.controlplane.api;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
import dev.tollgate.core.idempotency.StoredResponse;
import dev.tollgate.http.Problem;
import dev.tollgate.http.Request;
import dev.tollgate.http.Response;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.HexFormat;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Processes a request with an idempotency key once, and replays the response to repetitions of the
 * request (draft-ietf-httpapi-idempotency-key-header-07).
 *
 * <p>If the request throws, its key is released and the response is not stored. Such a request has
 * changed nothing, or its repetition finds the changes and continues from there.
 */
final class Idempotency {
  /** Longer than the function may run. A claim older than this belongs to a crashed invocation. */
  private static final Duration LEASE = Duration.ofSeconds(60);

  private static final Duration RETENTION = Duration.ofHours(24);
  private static final String RETRY_AFTER_SECONDS = "1";

  private final IdempotencyKeys keys;
  private final InstantSource clock;

  Idempotency(IdempotencyKeys keys, InstantSource clock) {
    this.keys = keys;
    this.clock = clock;
  }

  /**
   * Processes a request unless a request with its key was processed before.
   *
   * @param key the idempotency key; a request without one is always processed
   * @param work processes the request
   * @throws Unavailable if the key cannot be claimed; the request is not processed then
   */
  Response once(Optional<IdempotencyKey> key, Request request, Supplier<Response> work) {
    return key.map(named -> claimed(named, request, work)).orElseGet(work);
  }

  /**
   * Processes a request unless a request with its key was processed before. For a request that may
   * have an effect although it throws, and whose repetitions are harmless: all its attempts get the
   * same instant, so that this effect can be recognized. Until then the key is refused to other
   * requests, whatever happens to the attempts.
   *
   * @param work the response; gets the instant from which its key may be used for another request,
   *     in whole seconds
   * @throws Unavailable if the key cannot be claimed; the request is not processed then
   */
  Response onceUntil(IdempotencyKey key, Request request, Function<Instant, Response> work) {
    Instant now = clock.instant();
    KeyClaim claim = claim(key, request, after(RETENTION, now));
    KeyUse use = keys.claim(claim, now);
    return replayed(key, use)
        .orElseGet(
            () -> {
              Instant until =
                  use instanceof KeyUse.InProgress first ? first.until() : claim.endsAt();
              Response response = work.apply(until);
              keep(claim, response, request, until);
              return response;
            });
  }

  private static KeyClaim claim(IdempotencyKey key, Request request, Instant endsAt) {
    return new KeyClaim(key, fingerprint(request.content()), UUID.randomUUID().toString(), endsAt);
  }

  private Response claimed(IdempotencyKey key, Request request, Supplier<Response> work) {
    Instant now = clock.instant();
    KeyClaim claim = claim(key, request, after(LEASE, now));
    KeyUse use = keys.claim(claim, now);
    if (use instanceof KeyUse.InProgress) {
      return Problem.of(
              "idempotency-in-progress",
              409,
              "The request is in progress",
              "A request with Idempotency-Key `" + key + "` is still in progress. Retry later.")
          .response()
          .with("retry-after", RETRY_AFTER_SECONDS);
    }
    return replayed(key, use).orElseGet(() -> process(claim, request, work));
  }

  /** The response to a repetition, or to another request; empty if there is none yet. */
  private static Optional<Response> replayed(IdempotencyKey key, KeyUse use) {
    if (use instanceof KeyUse.Completed answered) {
      StoredResponse kept = answered.answer();
      return Optional.of(
          Response.parse(kept.status(), kept.headers(), kept.body())
              .with("idempotency-replayed", "true"));
    }
    return use instanceof KeyUse.OtherRequest ? Optional.of(reused(key)) : Optional.empty();
  }

  private static Response reused(IdempotencyKey key) {
    return Problem.of(
            "idempotency-key-reused",
            422,
            "The idempotency key was used for another request",
            "A request with Idempotency-Key `"
                + key
                + "` and another body was processed before. Use a new key for each request.")
        .response();
  }

  private Response process(KeyClaim claim, Request request, Supplier<Response> work) {
    Optional<Response> response = Optional.empty();
    try {
      response = Optional.of(work.get());
    } finally {
      if (response.isEmpty()) {
        release(claim, request);
      }
    }
    keep(claim, response.get(), request, after(RETENTION, clock.instant()));
    return response.get();
  }

  /** Stores the response. The caller gets it even if it cannot be stored. */
  private void keep(KeyClaim claim, Response response, Request request, Instant until) {
    StoredResponse answer =
        new StoredResponse(response.status(), response.headers(), response.text());
    try {
      keys.store(claim, answer, until);
    } catch (Unavailable unavailable) {
      request.log("answer of key " + claim.key() + ": not stored: " + unavailable.reason());
    }
  }

  private void release(KeyClaim claim, Request request) {
    try {
      keys.release(claim);
    } catch (Unavailable unavailable) {
      request.log("key " + claim.key() + ": not released: " + unavailable.reason());
    }
  }

  /** The time in whole seconds, rounded up. */
  private static Instant after(Duration time, Instant now) {
    return now.plus(time).plusNanos(999_999_999).truncatedTo(ChronoUnit.SECONDS);
  }

  private static String fingerprint(byte[] content) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(content));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
