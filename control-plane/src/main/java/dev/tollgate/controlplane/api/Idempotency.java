package dev.tollgate.controlplane.api;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeptAnswer;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
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
import java.util.function.Supplier;

/**
 * Does a request that bears an idempotency key once, and answers it again when it comes again
 * (draft-ietf-httpapi-idempotency-key-header-07).
 *
 * <p>What is refused for a value, or fails, is not kept: it began nothing, or nothing that a second
 * time would not find, and the key is free again.
 */
public final class Idempotency {
  /** More than the function may run: who has a claim for longer is dead. */
  private static final Duration LEASE = Duration.ofSeconds(60);

  private static final Duration KEPT = Duration.ofHours(24);
  private static final String RETRY_AFTER_SECONDS = "1";

  private final IdempotencyKeys keys;
  private final InstantSource clock;

  public Idempotency(IdempotencyKeys keys, InstantSource clock) {
    this.keys = keys;
    this.clock = clock;
  }

  /**
   * Does a request, unless it was done under its key.
   *
   * @param key what names it; a request without one is done
   * @throws Unavailable if the key cannot be asked for; nothing is done then
   */
  public Response once(Optional<IdempotencyKey> key, Request request, Supplier<Response> work) {
    return key.map(named -> once(named, request, work)).orElseGet(work);
  }

  private Response once(IdempotencyKey key, Request request, Supplier<Response> work) {
    Instant now = clock.instant();
    KeyClaim claim =
        new KeyClaim(
            key, fingerprint(request.content()), UUID.randomUUID().toString(), after(LEASE, now));
    KeyUse use = keys.claim(claim, now);
    if (use instanceof KeyUse.Answered answered) {
      KeptAnswer kept = answered.answer();
      return Response.parse(kept.status(), kept.headers(), kept.body())
          .with("idempotency-replayed", "true");
    }
    if (use instanceof KeyUse.OtherRequest) {
      return Problem.of(
              "idempotency-key-reused",
              422,
              "The key is another request's",
              "Idempotency-Key: "
                  + key
                  + " (expected: a key of its own for each request; another body came with it)")
          .response();
    }
    if (use instanceof KeyUse.InProgress) {
      return Problem.of(
              "idempotency-in-progress",
              409,
              "The request is being done",
              "Idempotency-Key: " + key + ": the request that came with it is not finished")
          .response()
          .with("retry-after", RETRY_AFTER_SECONDS);
    }
    return done(claim, request, work);
  }

  private Response done(KeyClaim claim, Request request, Supplier<Response> work) {
    boolean answered = false;
    try {
      Response response = work.get();
      answered = true;
      keep(claim, response, request);
      return response;
    } finally {
      if (!answered) {
        release(claim, request);
      }
    }
  }

  /** The request was done: it is answered even if that cannot be kept. */
  private void keep(KeyClaim claim, Response response, Request request) {
    KeptAnswer answer = new KeptAnswer(response.status(), response.headers(), response.text());
    try {
      keys.keep(claim, answer, after(KEPT, clock.instant()));
    } catch (Unavailable unavailable) {
      request.log("answer of key " + claim.key() + ": not kept: " + unavailable.reason());
    }
  }

  private void release(KeyClaim claim, Request request) {
    try {
      keys.release(claim);
    } catch (Unavailable unavailable) {
      request.log("key " + claim.key() + ": not released: " + unavailable.reason());
    }
  }

  /** In whole seconds, rounded up. */
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
