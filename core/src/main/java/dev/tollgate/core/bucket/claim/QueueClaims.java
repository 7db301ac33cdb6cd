package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.TokenQueue.Level;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.FillsOnRequest.Sent;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Claims tokens from the queue of a bucket, whoever waits in its line. All or none of several
 * tokens are held. Claims that each hold a part could block each other for ever. So a claim that
 * finds too few tokens returns them at once, and retries after a random pause, a few times, if the
 * others hold enough. If a claim of this process finds too few tokens, its result also applies to
 * the waiting claims for the same number.
 */
final class QueueClaims {
  /** The most attempts of a claim while other callers hold some of the tokens it needs. */
  private static final int MAX_ATTEMPTS = 4;

  private static final int FIRST_PAUSE_MILLIS = 20;

  /** When a claim is repeated that found void tokens, or tokens that a fill has to remove. */
  private static final Duration SOON = Duration.ofSeconds(1);

  private final TokenSearch search;
  private final HeldTokens held;
  private final FillsOnRequest fills;
  private final BucketMemory memory;
  private final Pause pause;
  private final InstantSource clock;

  QueueClaims(
      TokenSearch search,
      HeldTokens held,
      FillsOnRequest fills,
      BucketMemory memory,
      Pause pause,
      InstantSource clock) {
    this.search = search;
    this.held = held;
    this.fills = fills;
    this.memory = memory;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Receives up to n tokens before the row is known, unless another claim of this process has just
   * found too few.
   */
  Attempt firstTry(BucketId id, int n, Duration lease) {
    Attempt attempt = new Attempt(lease);
    if (memory.retryAt(id, n).isEmpty()) {
      search.receive(id, n, attempt);
    }
    return attempt;
  }

  /** Holds one token of a bucket that has no row yet. */
  ClaimResult holdWithoutRow(BucketId id, Attempt first) {
    return first.size() == 0 ? noRow() : granted(id, first);
  }

  /** The refusal while a bucket has no row. */
  Denied noRow() {
    return new Denied(clock.instant().plus(Bucket.RECONCILE_TIME));
  }

  /** Holds n tokens, or none. */
  ClaimResult hold(Bucket row, int n, Attempt attempt) {
    BucketId id = row.id();
    Instant now = clock.instant();
    search.removeVoid(row, now, attempt);
    Optional<Denied> untilFilled = untilFilled(row, n, attempt, now);
    if (untilFilled.isPresent()) {
      held.giveBack(id, attempt);
      return untilFilled.get();
    }
    Optional<Denied> refusal =
        attempt.size() < n ? ClaimPolicy.refusalWhileEmpty(row.at(now), n) : Optional.empty();
    if (refusal.isPresent()) {
      row.at(now).emptyUntil().ifPresent(until -> memory.mark(id, Mark.EMPTY, until));
      held.giveBack(id, attempt);
      return refusal.get();
    }
    Optional<Instant> retryAt = memory.retryAt(id, n);
    if (attempt.size() == 0 && retryAt.isPresent()) {
      return new Denied(retryAt.get());
    }
    Sent waking = fills.wake(row, now);
    // After the fill the first result of the queue is obsolete.
    if (row.at(now).needsWaking()) {
      attempt.repeat();
    }
    ClaimResult claim = holdAll(row, n, attempt);
    waking.await();
    return claim;
  }

  /**
   * The refusal of a claim that may spend none of the tokens of a calendar: its period has not
   * begun by this clock, or a fill has not yet replaced the tokens of the period before, or removed
   * those beyond a lower capacity.
   */
  private Optional<Denied> untilFilled(Bucket row, int n, Attempt attempt, Instant now) {
    Optional<Denied> early = row.beginsAfter(now).map(Denied::new);
    if (early.isPresent()) {
      return early;
    }
    if (row.hasVoidTokensAt(now)) {
      fills.tooFew(row, now).await();
      return Optional.of(new Denied(row.at(now).nextTokens(n)));
    }
    if (!row.exceedsCapacityAt(now)) {
      return Optional.empty();
    }
    boolean hasTokens = row.level() > 0 || attempt.size() > 0;
    if (hasTokens) {
      fills.tooFew(row, now).await();
    }
    return Optional.of(new Denied(hasTokens ? now.plus(SOON) : row.at(now).nextTokens(n)));
  }

  /** When a claim that got too few tokens finds more. */
  private static Instant retryAt(Bucket row, long missing, Attempt attempt, Instant now) {
    return attempt.isCutShort() ? now.plus(SOON) : row.at(now).nextTokens(missing);
  }

  private ClaimResult holdAll(Bucket row, int n, Attempt attempt) {
    BucketId id = row.id();
    for (int attempts = 1; ; attempts++) {
      Optional<Level> empty = search.complete(id, n, attempt);
      int found = attempt.size();
      if (found == n) {
        return granted(id, attempt);
      }
      if (found == 0 && attempt.failure().isPresent()) {
        return queueFailed(row, attempt.failure().get());
      }
      boolean contended =
          found > 0 && empty.filter(level -> level.visible() + level.held() >= n).isPresent();
      if (!contended || attempts == MAX_ATTEMPTS) {
        Instant now = clock.instant();
        Sent fill = empty.map(level -> foundTooFew(row, n, found, level, now)).orElse(Sent.NOTHING);
        held.giveBack(id, attempt);
        fill.await();
        Instant retryAt = retryAt(row, n - found, attempt, now);
        if (n > 1 && empty.isPresent() && !contended) {
          memory.tooFew(id, n, retryAt);
        }
        return new Denied(retryAt);
      }
      held.giveBack(id, attempt);
      pause.of(
          Duration.ofMillis(ThreadLocalRandom.current().nextInt(FIRST_PAUSE_MILLIS << attempts)));
    }
  }

  private Sent foundTooFew(Bucket row, int n, int found, Level level, Instant now) {
    boolean isEmpty = found == 0 && (n == 1 || level.visible() == 0);
    return isEmpty ? fills.empty(row, now, level.held()) : fills.tooFew(row, now);
  }

  private ClaimResult granted(BucketId id, Attempt attempt) {
    memory.clear(id, Mark.EMPTY);
    return attempt.granted(id);
  }

  /** The result if the queue failed: undecided, or denied if the queue is missing. */
  private ClaimResult.Shortfall queueFailed(Bucket row, Unavailable failure) {
    if (!(failure instanceof MissingQueue)) {
      return ClaimResult.Undecided.after(failure);
    }
    Instant now = clock.instant();
    if (row.at(now).mayLackQueue()) {
      return new Denied(now.plus(Bucket.QUEUE_DELAY));
    }
    fills.queueMissing(row, now);
    return new Denied(now.plus(Bucket.RECONCILE_TIME));
  }

  /** Spends up to n tokens, those of {@code attempt} first. */
  SpendResult spendUpTo(Bucket row, int n, Attempt attempt) {
    Instant now = clock.instant();
    search.removeVoid(row, now, attempt);
    Optional<Denied> untilFilled = untilFilled(row, n, attempt, now);
    if (untilFilled.isPresent()) {
      held.giveBack(row.id(), attempt);
      return new SpendResult(0, untilFilled.map(denied -> denied));
    }
    Optional<Denied> refusal = ClaimPolicy.refusalWhileEmpty(row.at(now), n);
    if (refusal.isPresent() && attempt.size() == 0) {
      row.at(now).emptyUntil().ifPresent(until -> memory.mark(row.id(), Mark.EMPTY, until));
      return new SpendResult(0, refusal.map(denied -> denied));
    }
    Sent waking = fills.wake(row, now);
    Optional<Level> empty =
        refusal.isPresent() ? Optional.empty() : search.complete(row.id(), n, attempt);
    ClaimResult.Granted found = attempt.granted(row.id());
    int spent = held.settleSome(found);
    waking.await();
    return spent == n
        ? new SpendResult(spent, Optional.empty())
        : new SpendResult(spent, Optional.of(shortfall(row, found, n - spent, empty, attempt)));
  }

  private ClaimResult.Shortfall shortfall(
      Bucket row, ClaimResult.Granted found, int missing, Optional<Level> empty, Attempt attempt) {
    int received = found.leases().size();
    if (received == 0 && attempt.failure().isPresent()) {
      return queueFailed(row, attempt.failure().get());
    }
    Instant now = clock.instant();
    empty.ifPresent(level -> fills.empty(row, now, Math.max(0, level.held() - received)).await());
    return new Denied(retryAt(row, missing, attempt, now));
  }
}
