package dev.tollgate.core.admission;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.TokenClaims;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.WakeUp;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Decides whether a connection may be made, and holds a token for it.
 *
 * <p>The read and the claim go out together, so that a connection that is let in waits for the
 * slower of the two, not for both. A token that the read then forbids goes back at once. A bucket
 * that is known to be empty is not asked again before its next token is due: a process that has
 * seen this reads first, and claims only if the read does not confirm it.
 *
 * <p>Even a long poll is, rarely, wrong to find a queue empty (Amazon SQS Developer Guide,
 * "Confirming that a queue is empty"), and what is remembered of it refuses everybody. So a bucket
 * that its last fill left tokens in is asked twice.
 *
 * <p>A bucket that hibernates is woken before its first token is spent, and one that is found empty
 * and that nobody has filled for minutes is, too.
 */
public final class Admission {
  private static final int REMEMBERED = 10_000;

  private final FactsReader reader;
  private final Buckets buckets;
  private final TokenQueue queue;
  private final WakeUp wakeUp;
  private final RefusalTally tally;
  private final Executor executor;
  private final InstantSource clock;
  private final Map<TenantId, Instant> emptyUntil =
      Collections.synchronizedMap(
          new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<TenantId, Instant> eldest) {
              return size() > REMEMBERED;
            }
          });

  /**
   * An admission by what {@code reader} tells and {@code queue} holds.
   *
   * @param tally counts whom it refuses, but for tenants that nobody knows
   * @param executor runs the claim beside the read
   */
  public Admission(
      FactsReader reader,
      Buckets buckets,
      TokenQueue queue,
      WakeUp wakeUp,
      RefusalTally tally,
      Executor executor,
      InstantSource clock) {
    this.reader = reader;
    this.buckets = buckets;
    this.queue = queue;
    this.wakeUp = wakeUp;
    this.tally = tally;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Decides on a connection to a session.
   *
   * @throws Unavailable if what stands written cannot be read
   */
  public Verdict decide(TenantId tenant, SessionId session) {
    if (!reader.knows(tenant)) {
      return new Verdict.Refused(Refusal.UNKNOWN);
    }
    Instant seenEmptyUntil = emptyUntil.getOrDefault(tenant, Instant.MIN);
    if (clock.instant().isBefore(seenEmptyUntil)) {
      Facts facts = reader.read(tenant, session);
      Optional<Verdict.Refused> refusal = refusal(tenant, facts);
      return refusal.isPresent()
          ? counted(facts, refusal.get(), () -> {})
          : verdict(tenant, session, facts, reserve(tenant));
    }
    CompletableFuture<Held> claim = CompletableFuture.supplyAsync(() -> reserve(tenant), executor);
    Facts facts = readOrGiveBack(tenant, session, claim);
    Held held = claim.join();
    Optional<Verdict.Refused> refusal = facts.refusalAt(clock.instant());
    if (refusal.isPresent()) {
      return counted(facts, refusal.get(), () -> giveBack(tenant, held));
    }
    return verdict(tenant, session, facts, held);
  }

  private Optional<Verdict.Refused> refusal(TenantId tenant, Facts facts) {
    Instant now = clock.instant();
    Optional<Verdict.Refused> refusal = facts.refusalAt(now);
    return refusal.isPresent()
        ? refusal
        : facts.emptyUntil(now).map(until -> refusedForRate(tenant, until, facts.retryAt(now)));
  }

  private Verdict verdict(TenantId tenant, SessionId session, Facts facts, Held claimed) {
    Tenant known = facts.tenant().orElseThrow();
    Optional<Instant> remembered = facts.emptyUntil(clock.instant());
    Held held = claimed;
    if (facts.isAsleep() || (held.isNothing() && facts.isOverdue(clock.instant()))) {
      held = awakened(tenant, held);
    } else if (held.isNothing() && remembered.isEmpty() && facts.mayHoldTokens()) {
      held = reserve(tenant);
    }
    if (held.unavailable().isPresent()) {
      return known.onUnavailable() == OnUnavailable.ADMIT
          ? ticket(known, session, facts, Optional.empty())
          : counted(facts, new Verdict.Refused(Refusal.UNDECIDED), () -> {});
    }
    if (held.lease().isPresent()) {
      emptyUntil.remove(tenant);
      return ticket(known, session, facts, held.lease());
    }
    Instant now = clock.instant();
    Instant until = remembered.orElseGet(() -> facts.emptyFrom(now));
    return counted(
        facts,
        refusedForRate(tenant, until, facts.retryAt(now)),
        () -> {
          if (remembered.isEmpty()) {
            facts.bucket().ifPresent(bucket -> buckets.rememberEmpty(bucket, until));
          }
        });
  }

  /**
   * A refusal that is counted while the rest is done for it. A tenant that the read does not find
   * has nobody to count it for.
   */
  private Verdict.Refused counted(Facts facts, Verdict.Refused refusal, Runnable besides) {
    facts.tenant().ifPresentOrElse(known -> tally.count(known.id(), besides), besides);
    return refusal;
  }

  private Verdict.Refused refusedForRate(TenantId tenant, Instant until, Instant retryAt) {
    emptyUntil.put(tenant, until);
    return new Verdict.Refused(Refusal.TENANT_RATE, Optional.of(retryAt));
  }

  /**
   * What is held once the bucket is awake. If it cannot be woken, a token that is held is as good
   * as any; the next claim tries again.
   */
  private Held awakened(TenantId tenant, Held held) {
    try {
      wakeUp.wake(connectBucket(tenant));
    } catch (Unavailable unavailable) {
      return held.isNothing() ? new Held(Optional.empty(), Optional.of(unavailable)) : held;
    }
    return held.isNothing() ? reserve(tenant) : held;
  }

  private static Verdict ticket(
      Tenant tenant, SessionId session, Facts facts, Optional<Lease> lease) {
    return new Verdict.Ticketed(
        new Ticket(
            tenant.id(),
            session,
            tenant.limits().get(Limit.TENANT_CONNECTIONS),
            tenant.limits().get(Limit.CONNECTIONS_PER_SESSION),
            tenant.limits().get(Limit.SESSION_PER_MINUTE),
            facts.session().flatMap(Session::arrival),
            tenant.onUnavailable(),
            lease));
  }

  private Facts readOrGiveBack(TenantId tenant, SessionId session, CompletableFuture<Held> claim) {
    try {
      return reader.read(tenant, session);
    } catch (RuntimeException failed) {
      giveBack(tenant, claim.join());
      throw failed;
    }
  }

  private Held reserve(TenantId tenant) {
    try {
      List<Lease> leases = queue.reserve(connectBucket(tenant), 1, TokenClaims.LEASE);
      return new Held(leases.stream().findFirst(), Optional.empty());
    } catch (Unavailable unavailable) {
      return new Held(Optional.empty(), Optional.of(unavailable));
    }
  }

  /** A token that cannot be given back returns when its lease ends. */
  private void giveBack(TenantId tenant, Held held) {
    try {
      held.lease().ifPresent(lease -> queue.giveBack(connectBucket(tenant), List.of(lease)));
    } catch (Unavailable ignored) {
      return;
    }
  }

  private static BucketId connectBucket(TenantId tenant) {
    return new BucketId(tenant, Action.CONNECT);
  }

  /** What came of a claim: a token, none, or no answer. */
  private record Held(Optional<Lease> lease, Optional<Unavailable> unavailable) {
    boolean isNothing() {
      return lease.isEmpty() && unavailable.isEmpty();
    }
  }
}
