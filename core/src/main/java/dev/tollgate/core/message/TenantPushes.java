package dev.tollgate.core.message;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
import dev.tollgate.core.idempotency.StoredResponse;
import dev.tollgate.core.message.Pushes.Delivered;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionReference;
import dev.tollgate.core.session.Sessions;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Sends a push to all sessions of a tenant, page by page. A page ends with the request for the next
 * one.
 *
 * <p>The queue delivers a page at least once. Its key in the idempotency store says that it was
 * sent and where it ended. So a page that is delivered again only requests the next one. If the
 * process crashes while it sends a page, or this record cannot be written and the next page not be
 * requested either, the page is sent again; then some of its sockets get the frame twice.
 *
 * <p>Sessions that are created after their page was read do not get the push.
 */
public final class TenantPushes {
  /** The sessions of a page. */
  public static final int PAGE = 100;

  /** Longer than a page may take. A claim older than this belongs to a crashed invocation. */
  private static final Duration LEASE = Duration.ofMinutes(2);

  /** A repetition may add a page again for one day, and the queue keeps the page for another. */
  private static final Duration RETENTION = Duration.ofDays(2);

  private final Sessions sessions;
  private final Pushes pushes;
  private final PushQueue queue;
  private final IdempotencyKeys keys;
  private final InstantSource clock;

  /** Pushes to these sessions, whose pages pass {@code queue}. */
  public TenantPushes(
      Sessions sessions,
      Pushes pushes,
      PushQueue queue,
      IdempotencyKeys keys,
      InstantSource clock) {
    this.sessions = sessions;
    this.pushes = pushes;
    this.queue = queue;
    this.keys = keys;
    this.clock = clock;
  }

  /** The idempotency key of a push. The keys of its pages begin with it and a colon. */
  public static IdempotencyKey key(Push push) {
    return new IdempotencyKey("push:" + push.tenant() + ":" + push.id());
  }

  /**
   * Sends a page, unless it was sent before, and requests the next one.
   *
   * @param time the time limit
   * @return empty if the page was sent before
   * @throws Unavailable if a store fails or another process is sending the page; the queue then
   *     delivers it again
   */
  public Optional<Delivered> send(PushPage page, Duration time) {
    Instant now = clock.instant();
    KeyClaim claim =
        new KeyClaim(
            new IdempotencyKey("push:" + page.key()),
            "page",
            UUID.randomUUID().toString(),
            seconds(now.plus(LEASE)));
    KeyUse use = keys.claim(claim, now);
    if (use instanceof KeyUse.Completed sent) {
      requestNext(page, Optional.of(sent.answer().body()).filter(next -> !next.isEmpty()));
      return Optional.empty();
    }
    if (!(use instanceof KeyUse.Claimed)) {
      throw new Unavailable("page of push " + page.push().id() + ": another process sends it");
    }
    Page<Session> read = read(page, claim);
    Delivered delivered = pushes.to(page.push(), read.items(), time);
    store(claim, read.next());
    requestNext(page, read.next());
    return Optional.of(delivered);
  }

  private Page<Session> read(PushPage page, KeyClaim claim) {
    try {
      return SessionReference.page(
          sessions, page.push().tenant(), page.after(), PAGE, Sessions.Consistency.CONSISTENT);
    } catch (RuntimeException failure) {
      keys.release(claim);
      throw failure;
    }
  }

  /** If this fails, the page was sent nevertheless, so the next one is requested. */
  private void store(KeyClaim claim, Optional<String> next) {
    try {
      var unused =
          keys.store(
              claim,
              new StoredResponse(200, Map.of(), next.orElse("")),
              seconds(clock.instant().plus(RETENTION)));
    } catch (Unavailable ignored) {
      return;
    }
  }

  private void requestNext(PushPage page, Optional<String> next) {
    next.map(page::next).ifPresent(queue::send);
  }

  private static Instant seconds(Instant instant) {
    return instant.plusNanos(999_999_999).truncatedTo(ChronoUnit.SECONDS);
  }
}
