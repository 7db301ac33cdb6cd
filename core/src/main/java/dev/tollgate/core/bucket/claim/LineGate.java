package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.BucketGate.SpendResult;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Claims single tokens for callers that wait in the bucket's {@link Line}.
 *
 * <p>While nobody waits, a claim goes straight to the {@link BucketGate}, and a caller that is
 * refused opens the line with one write. While somebody waits, a caller whose place is due claims a
 * token without a write; a caller that has a place and comes early is refused without any request;
 * a new caller takes a place. If that fails, the caller is refused without a place. If the line is
 * full, the caller gets no place, and its retry time is the slot behind the last one: then the line
 * can take as many callers again. While the line is switched off, every claim goes straight to the
 * gate and takes no place.
 *
 * <p>A claim stores the expected place with its caller before the line is incremented. So only one
 * of a caller's concurrent claims takes a place, and no caller can fill a line with unused places.
 * The other claims cannot store a place, or find one that is about to be taken, and are refused
 * until its slot. After a claim took a place, it stores that one, because another caller may have
 * taken the expected place. If it cannot store it, it frees the place. A caller that ends before
 * frees nothing, because the expected place may be another caller's. After a crash in between, a
 * caller may have the place of another one: then both come for one token, and one of them waits for
 * the next.
 */
public final class LineGate {
  /** How late a minted token may be before the caller that waits for it moves its slot. */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  /** How long after its retry time a caller may come, which has whole seconds. */
  private static final Duration RETURN = Duration.ofMillis(1_500);

  private final Buckets buckets;
  private final BucketGate gate;
  private final InstantSource clock;
  private final FreedPlaces freed;

  /** A gate in front of {@code gate}, to the lines of {@code buckets}. */
  public LineGate(Buckets buckets, BucketGate gate, InstantSource clock) {
    this.buckets = buckets;
    this.gate = gate;
    this.clock = clock;
    this.freed = new FreedPlaces(buckets, clock);
  }

  /**
   * Holds one token.
   *
   * @param read the bucket as just read
   * @param caller who claims; if it is refused it keeps its place
   * @param first the result of {@link BucketGate#firstTry}, which ran while the row was read
   */
  public ClaimResult claim(Bucket read, Waiting caller, Attempt first) {
    Instant now = clock.instant();
    Optional<Line> line = read.liveLineAt(now);
    if (line.isEmpty()) {
      gate.memory().clear(read.id(), Mark.LINE);
      ClaimResult claim = gate.claim(read.id(), Optional.of(read), first);
      return claim instanceof ClaimResult.Denied denied && read.spec().keepsLine()
          ? open(read, denied.retryAt(), caller, first.again())
          : claim;
    }
    return claimInLine(retuned(read, now), caller, first);
  }

  /** Spends one token, see {@link #claim(Bucket, Waiting, Attempt)}. */
  public ClaimResult spend(Bucket read, Waiting caller, Attempt first) {
    Instant now = clock.instant();
    Optional<Place> due = caller.place().filter(place -> read.standing(place, now) == Standing.DUE);
    ClaimResult claim = claim(read, caller, first);
    ClaimResult spent = gate.settled(claim);
    // A caller whose token was not spent in time waits for the next one in its place.
    return claim instanceof ClaimResult.Granted && spent instanceof ClaimResult.Denied denied
        ? due.map(place -> keptBack(read, place, denied.retryAt())).orElse(spent)
        : spent;
  }

  /**
   * Holds n tokens, or none, for a caller that takes no place and overtakes nobody. While others
   * wait, it gets one spare token or the token after those of all places; more than one token are
   * refused.
   *
   * @param read the bucket as just read
   * @param n 1 to the bucket's capacity, at most 10,000
   * @param first the tokens that it received while the row was read
   */
  ClaimResult claim(Bucket read, int n, Attempt first) {
    return n == 1
        ? withoutPlace(claim(read, new CallerWithoutPlace(), first))
        : refusedForLine(read, n, first)
            .<ClaimResult>map(refused -> refused)
            .orElseGet(() -> gate.claim(read, n, first));
  }

  /** Spends n tokens, or none, see {@link #claim(Bucket, int, Attempt)}. */
  ClaimResult spend(Bucket read, int n, Attempt first) {
    return n == 1
        ? withoutPlace(spend(read, new CallerWithoutPlace(), first))
        : refusedForLine(read, n, first)
            .<ClaimResult>map(refused -> refused)
            .orElseGet(() -> gate.spend(read, n, first));
  }

  /** Spends up to n tokens; at most one while others wait, see {@link #spend}. */
  SpendResult spendUpTo(Bucket read, int n, Attempt first) {
    if (read.liveLineAt(clock.instant()).isEmpty()) {
      return gate.spendUpTo(read, n, first);
    }
    gate.giveBack(read.id(), first);
    ClaimResult one = spend(read, 1, first.again());
    return one instanceof ClaimResult.Shortfall shortfall
        ? new SpendResult(0, Optional.of(shortfall))
        : new SpendResult(1, n == 1 ? Optional.empty() : refusedForLine(read, n - 1));
  }

  /**
   * The refusal of a claim without a place, as far as a row tells that was read a while ago: nobody
   * needs to write anything, and no token is spare.
   */
  Optional<ClaimResult.Shortfall> refusal(Bucket known, int n) {
    Instant now = clock.instant();
    Optional<Line> line = known.liveLineAt(now);
    if (line.isEmpty()) {
      return known.isKnownEmptyAt(now)
          ? Optional.of(new ClaimResult.Denied(known.nextTokensAt(now, n)))
          : Optional.empty();
    }
    if (n > 1) {
      return refusedForLine(known, n);
    }
    Instant next = line.get().slot(line.get().issued() + 1);
    return isSettled(known, line.get(), now) && next.isAfter(now)
        ? Optional.of(new ClaimResult.Denied(next))
        : Optional.empty();
  }

  /** The refusal of a place whose slot has not come, see {@link #refusal(Bucket, int)}. */
  public Optional<ClaimResult.Shortfall> refusal(Bucket known, Place place) {
    Instant now = clock.instant();
    return known
        .liveLineAt(now)
        .filter(line -> isSettled(known, line, now))
        .filter(line -> known.standing(place, now) == Standing.WAITING)
        .map(line -> new ClaimResult.Denied(line.slot(place.number()), Optional.of(place)));
  }

  private static boolean isSettled(Bucket known, Line line, Instant now) {
    return line.spare() == 0 && !known.needsFillAt(now) && known.lineRetuned(now).isEmpty();
  }

  private Optional<ClaimResult.Shortfall> refusedForLine(Bucket read, int n, Attempt first) {
    Optional<ClaimResult.Shortfall> refused = refusedForLine(read, n);
    refused.ifPresent(any -> gate.giveBack(read.id(), first));
    return refused;
  }

  private Optional<ClaimResult.Shortfall> refusedForLine(Bucket read, int n) {
    return read.lineEndsAt(clock.instant(), n).map(ClaimResult.Denied::new);
  }

  private static ClaimResult withoutPlace(ClaimResult claim) {
    return claim instanceof ClaimResult.Denied denied
        ? new ClaimResult.Denied(denied.retryAt())
        : claim;
  }

  /** A caller that takes a place only if its slot has come, and claims at once. */
  private final class CallerWithoutPlace implements Waiting {
    @Override
    public Optional<Place> place() {
      return Optional.empty();
    }

    @Override
    public boolean keep(Place place, Instant slot) {
      return !slot.isAfter(clock.instant());
    }
  }

  /** The bucket with a line that has its rate. */
  private Bucket retuned(Bucket read, Instant now) {
    return read.lineRetuned(now)
        .flatMap(next -> quietly(() -> buckets.changeLine(read.id(), read.line(), next)))
        .map(read::with)
        .orElse(read);
  }

  private ClaimResult claimInLine(Bucket read, Waiting caller, Attempt first) {
    Optional<Place> place = caller.place();
    Instant now = clock.instant();
    Optional<Line> line = read.line();
    gate.fillForLine(read);
    Standing standing = place.map(known -> read.standing(known, now)).orElse(Standing.VOID);
    if (standing == Standing.DUE) {
      return redeem(read, place.get(), first);
    }
    Attempt attempt = first;
    if (hasSpare(read.id(), line.get(), now)) {
      ClaimResult claim = gate.claim(read.id(), Optional.of(read), attempt);
      if (!(claim instanceof ClaimResult.Denied)) {
        return claim;
      }
      attempt = first.again();
    }
    gate.giveBack(read.id(), attempt);
    return standing == Standing.WAITING
        ? refused(read.id(), line.get(), place.get())
        : enter(read, line.get(), caller, first.again());
  }

  /**
   * Opens the line for a caller that was refused until {@code slot}.
   *
   * <p>The caller may have kept the first place already: a concurrent claim is about to open the
   * line, or an earlier one failed to. Then this claim only opens the line. If both do so at the
   * same time, the other one takes the next place as well, and the first place stays unused.
   */
  private ClaimResult open(Bucket read, Instant slot, Waiting caller, Attempt attempt) {
    Line next = read.lineOpened(slot, clock.instant());
    boolean isKept = caller.place().filter(next.last()::equals).isPresent();
    if (!isKept && (isOutdated(read, caller, next.epoch() - 1) || !expects(caller, next))) {
      return new ClaimResult.Denied(slot);
    }
    return quietly(() -> buckets.changeLine(read.id(), read.line(), next))
        .or(() -> isKept ? Optional.empty() : quietly(() -> takePlaceInOpened(read.id(), next)))
        .map(line -> placed(read, line, caller, attempt))
        .orElseGet(() -> new ClaimResult.Denied(slot));
  }

  /**
   * Takes a place in a line that another caller has just opened. If there is no line, one that
   * could not be read has been removed; then this one is opened.
   */
  private Optional<Line> takePlaceInOpened(BucketId id, Line next) {
    Optional<Bucket> current = buckets.find(id);
    return current.filter(bucket -> bucket.line().isEmpty()).isPresent()
        ? buckets.changeLine(id, Optional.empty(), next)
        : current
            .flatMap(bucket -> bucket.liveLineAt(clock.instant()))
            .flatMap(line -> buckets.takePlace(id, line));
  }

  /**
   * Whether the bucket was read before the line was opened in which the caller has a place. A place
   * of a later line that does not exist is void: that line was lost, or never opened.
   *
   * @param epoch the line as read, or an earlier one
   */
  private boolean isOutdated(Bucket read, Waiting caller, long epoch) {
    if (caller.place().filter(kept -> kept.epoch() > epoch).isEmpty()) {
      return false;
    }
    Optional<Bucket> now = quietly(() -> buckets.find(read.id()));
    return now.isEmpty()
        || now.flatMap(Bucket::line).filter(line -> line.epoch() > epoch).isPresent();
  }

  /** Takes a place for a caller without one. */
  private ClaimResult enter(Bucket read, Line line, Waiting caller, Attempt attempt) {
    Line next = line.extended();
    ClaimResult without = new ClaimResult.Denied(next.slot(next.issued()));
    if (isOutdated(read, caller, line.epoch())) {
      return without;
    }
    Optional<Place> left = quietly(() -> freed.take(read.id(), line, caller));
    if (left.isPresent()) {
      return refused(read.id(), line, left.get());
    }
    return !line.isFullAt(clock.instant()) && expects(caller, next)
        ? quietly(() -> buckets.takePlace(read.id(), line))
            .map(extended -> placed(read, extended, caller, attempt))
            .orElse(without)
        : without;
  }

  /**
   * The result for a caller that took the last place of a line. It keeps that place again: another
   * caller may have taken the expected one, or the caller's session may have ended in between.
   */
  private ClaimResult placed(Bucket read, Line line, Waiting caller, Attempt attempt) {
    Place taken = line.last();
    Instant slot = line.slot(taken.number());
    Optional<Boolean> isKept = quietly(() -> Optional.of(caller.keep(taken, slot)));
    if (isKept.filter(kept -> !kept).isPresent()) {
      freed.free(read.id(), taken);
    }
    if (isKept.filter(kept -> kept).isEmpty()) {
      return new ClaimResult.Denied(slot);
    }
    return slot.isAfter(clock.instant())
        ? refused(read.id(), line, taken)
        : redeem(read.with(line), taken, attempt);
  }

  /** Whether the caller keeps the last place of a line, which it is about to take. */
  private static boolean expects(Waiting caller, Line line) {
    Instant slot = line.slot(line.issued());
    return caller.lasts(slot)
        && quietly(() -> Optional.of(caller.expect(line.last(), slot)))
            .filter(Boolean::booleanValue)
            .isPresent();
  }

  /** Claims a token for a place that is due. */
  private ClaimResult redeem(Bucket read, Place place, Attempt attempt) {
    ClaimResult claim = gate.claim(read.id(), Optional.of(read), attempt);
    if (!(claim instanceof ClaimResult.Denied denied)) {
      return claim;
    }
    Instant now = clock.instant();
    Line line = read.line().orElseThrow();
    Instant slot = line.slot(place.number());
    if (slot.isAfter(now)) {
      return refused(read.id(), line, place);
    }
    // After a change of the rate, the retry time is behind all tokens minted at the rate before.
    Instant retryAt =
        read.nextMintedSlot(place, now).filter(denied.retryAt()::isAfter).orElse(denied.retryAt());
    return keptBack(read, place, retryAt);
  }

  /**
   * The refusal of a place that is due and got no token. The place stays due at {@code retryAt}, or
   * its slot moves there.
   */
  private ClaimResult keptBack(Bucket read, Place place, Instant retryAt) {
    Instant now = clock.instant();
    // A fill that is late sends all that is owed, so the places behind keep their slots.
    Instant slot = read.line().orElseThrow().slot(place.number());
    boolean isOwed = read.owes(slot);
    boolean isPatient = isOwed || now.isBefore(slot.plus(PATIENCE));
    if (isPatient
        && read.standing(place, retryAt.plus(isOwed ? RETURN : PATIENCE)) == Standing.DUE) {
      return new ClaimResult.Denied(retryAt, Optional.of(place));
    }
    Line moved = read.lineMoved(place, retryAt).orElseThrow();
    return quietly(() -> buckets.changeLine(read.id(), read.line(), moved))
        .map(changed -> refused(read.id(), changed, place))
        .orElseGet(() -> new ClaimResult.Denied(retryAt, Optional.of(place)));
  }

  private boolean hasSpare(BucketId id, Line line, Instant now) {
    return line.spare() > 0
        && quietly(() -> Optional.of(buckets.takeSpare(id, line.epoch(), now)))
            .filter(WriteResult.DONE::equals)
            .isPresent();
  }

  private ClaimResult refused(BucketId id, Line line, Place place) {
    gate.memory().mark(id, Mark.LINE, line.slot(line.issued()));
    return new ClaimResult.Denied(line.slot(place.number()), Optional.of(place));
  }

  private static <T> Optional<T> quietly(Supplier<Optional<T>> request) {
    try {
      return request.get();
    } catch (Unavailable unavailable) {
      return Optional.empty();
    }
  }
}
