package dev.tollgate.core.bucket;

import dev.tollgate.core.InvalidValue;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Set;

/**
 * The line of callers that were refused because a bucket was empty.
 *
 * <h2>Slots</h2>
 *
 * Each caller in the line has a numbered {@link Place}. The <em>slot</em> of a place is the instant
 * at which its token has appeared. Slots follow each other at the rate of the bucket, so each token
 * is promised to one caller. A refusal tells the caller its slot. At its slot, and for a
 * {@linkplain #DUE_FOR ten seconds} after it, the place is <em>due</em>: its caller may claim a
 * token.
 *
 * <p>The line is <em>live</em> until the last place is no longer due. While it is live, a caller
 * without a place takes the next number, and claims only if the slot of that number has come. So
 * callers are admitted in the order in which they came, and a caller that returns when it was told
 * finds a token.
 *
 * <h2>Spare tokens</h2>
 *
 * Some callers do not return. Their tokens stay in the bucket. A fill counts the tokens in the
 * bucket, subtracts one for each place that is due, and records the rest as spare. Whoever claims
 * next may take a spare token, in whatever place. This takes nothing from the callers in line, each
 * of which still finds a token at its slot.
 *
 * <h2>When tokens come late</h2>
 *
 * Fewer tokens appear than promised if the rate is lowered or a fill is lost. A caller whose place
 * is due then finds the bucket empty, and comes back in a second. Once its token is four seconds
 * late, or its place would no longer be due when it comes back, it moves its slot to the next
 * token, and so the slots of all places behind it. A token that no fill has minted yet is not late.
 *
 * <h2>When the rate changes</h2>
 *
 * Tokens are minted ahead. The places whose tokens were minted keep their slots. After a lower
 * rate, those behind follow at that rate. A higher rate leaves all slots as they were told, and new
 * places follow at that rate; the additional tokens are spare.
 *
 * @param epoch counts the lines of the bucket, each of which began when nobody waited; the places
 *     of earlier ones are void. 0 or more
 * @param issued the last number; 0 or more
 * @param anchor a number whose token is due at {@code at}
 * @param at when the token of the anchor is due
 * @param from the earliest slot. Tokens that were due before are only being sent
 * @param rate how fast the slots behind the anchor follow each other
 * @param before the rate of the slots before the anchor
 * @param spare tokens that no place needs; 0 or more
 * @param spareTakenAt when a spare token was taken last, or the line began
 * @param freed places whose sessions ended before their slots, see {@link
 *     dev.tollgate.core.bucket.claim.FreedPlaces}; some may be void
 */
public record Line(
    long epoch,
    long issued,
    long anchor,
    Instant at,
    Instant from,
    Rate rate,
    Rate before,
    long spare,
    Instant spareTakenAt,
    Set<Place> freed) {
  /**
   * How long a place is due. A client adds up to a second to its wait, because {@code Retry-After}
   * has whole seconds (RFC 9110, 10.2.3), and then opens a connection.
   */
  static final Duration DUE_FOR = Duration.ofSeconds(10);

  /**
   * How long a taken spare token may still be in the queue: a claim takes it with up to two
   * receives, the second of which waits for a second.
   */
  private static final Duration TAKING = Duration.ofSeconds(5);

  /** How long before a slot its token may appear. */
  private static final Duration EARLIEST = Duration.ofSeconds(1);

  /**
   * How much the clock of a process may be behind that of the process which told the slot. Lambda's
   * clocks follow the Amazon Time Sync Service, within milliseconds.
   */
  private static final Duration SKEW = Duration.ofMillis(250);

  /** The most freed places that a line records, so that its row stays small. */
  public static final int MAX_FREED = 1_000;

  /** The time of the freed places that a full line cannot record. */
  private static final Duration UNRECORDED = Duration.ofMinutes(1);

  /**
   * The most numbers between the anchor and a place with a slot of its own. With more, times would
   * overflow. At {@link Rate#MAX_PER_MINUTE} a line reaches it after a day without a change.
   */
  private static final long MAX_AHEAD = 100_000_000;

  /**
   * Checks the numbers.
   *
   * @throws InvalidValue if one is negative
   */
  public Line {
    InvalidValue.inRange("epoch", epoch, 0, Long.MAX_VALUE);
    InvalidValue.inRange("issued", issued, 0, Long.MAX_VALUE);
    InvalidValue.inRange("anchor", anchor, 0, Long.MAX_VALUE);
    InvalidValue.inRange("spare", spare, 0, Long.MAX_VALUE);
    freed = Set.copyOf(freed);
  }

  /**
   * A line with one place.
   *
   * @param due when its token is due
   * @param slot when it may claim
   */
  static Line opened(long epoch, Rate rate, Instant due, Instant slot, Instant now) {
    return new Line(epoch, 1, 1, due, slot, rate, rate, 0, now, Set.of());
  }

  /** This line with one more place at its end. */
  public Line extended() {
    return withIssued(issued + 1);
  }

  /** This line after a spare token was taken from it. */
  public Line withoutSpare(Instant now) {
    return new Line(epoch, issued, anchor, at, from, rate, before, spare - 1, now, freed);
  }

  /** This line with another last number. */
  public Line withIssued(long last) {
    return new Line(epoch, last, anchor, at, from, rate, before, spare, spareTakenAt, freed);
  }

  /** This line with other freed places. */
  public Line withFreed(Set<Place> next) {
    return new Line(epoch, issued, anchor, at, from, rate, before, spare, spareTakenAt, next);
  }

  /** The freed places whose slots have not come, in order. */
  public List<Place> freedAhead(Instant now) {
    return freed.stream()
        .filter(place -> isAhead(place, now))
        .sorted(Comparator.comparing(Place::number))
        .toList();
  }

  /** Whether this place was taken and its slot has not come. */
  public boolean isAhead(Place place, Instant now) {
    return place.number() <= issued && standing(place, now) == Standing.WAITING;
  }

  /** The number of the place that a new caller gets. */
  long nextNumber(Instant now) {
    return freedAhead(now).stream().findFirst().map(Place::number).orElse(issued + 1);
  }

  /**
   * Whether no caller may take a place at its end: {@value #MAX_FREED} places are waiting, and the
   * last {@value #MAX_FREED} of them have slots more than a minute ahead. So no more places than
   * these and those of a minute can be freed.
   */
  public boolean isFullAt(Instant now) {
    return ahead(extended().last(), now) >= MAX_FREED
        && slot(issued + 1 - MAX_FREED).isAfter(now.plus(UNRECORDED));
  }

  /** The last place. */
  public Place last() {
    return new Place(epoch, Math.max(1, issued));
  }

  /**
   * This line after a place that is due found no token: its slot moves to {@code slot}, and the
   * others follow at the present rate.
   */
  Line moved(Place place, Rate next, Instant slot) {
    return new Line(
        epoch, issued, place.number(), slot, from, next, next, spare, spareTakenAt, freed);
  }

  /**
   * This line after the rate was changed.
   *
   * @param through the places whose slots come no later keep them, because their tokens were minted
   * @param first when the first token at the new rate appears
   */
  Line retuned(Rate next, Instant through, Instant first) {
    boolean isFaster = next.microtokensPerMinute() > rate.microtokensPerMinute();
    // A fractional token is worth less time at the higher rate, but never more than one token's.
    long last = isFaster ? Math.max(issued, calledAt(through)) + 1 : calledAt(through);
    if (last >= anchor) {
      Rate earlier = last > anchor ? rate : before;
      return new Line(
          epoch, issued, last, slot(last), from, next, earlier, spare, spareTakenAt, freed);
    }
    Instant later = first.isAfter(at) ? first : at;
    return new Line(epoch, issued, anchor, later, from, next, before, spare, spareTakenAt, freed);
  }

  /**
   * Whether a change to {@code next} must wait, because some slots follow at each of two rates: a
   * higher rate may come later, a lower one may not.
   */
  boolean mustKeepRate(Rate next, Instant now) {
    return next.microtokensPerMinute() > rate.microtokensPerMinute()
        && !before.equals(rate)
        && slot(anchor).plus(DUE_FOR).isAfter(now);
  }

  /** A line in which nobody waits: the places of this one are void. */
  public Line cleared(Instant now) {
    Instant past = now.minus(DUE_FOR);
    return new Line(epoch + 1, 0, 1, past, past, rate, rate, 0, now, freed);
  }

  /**
   * This line after the tokens in its bucket were counted.
   *
   * @param available the tokens that are due and that nobody holds
   * @param next when the next token appears. After a bucket was full, its tokens are due later than
   *     the slots, so one more token must stay in the bucket.
   */
  Line counted(long available, Instant next, Instant now) {
    if (Duration.between(spareTakenAt, now).abs().compareTo(TAKING) < 0) {
      return this;
    }
    long called = calledAt(now.plus(EARLIEST));
    long kept = reservedAt(now) + (next.isAfter(slot(called + 1)) ? 1 : 0);
    long rest = Math.max(0, available - kept);
    return new Line(epoch, issued, anchor, at, from, rate, before, rest, spareTakenAt, freed);
  }

  /** The slot of a number. */
  public Instant slot(long number) {
    Instant due =
        number >= anchor
            ? at.plusMillis(millis(rate, number - anchor))
            : at.minusMillis(millis(before, anchor - number) - 1);
    return due.isAfter(from) ? due : from;
  }

  /** The first slot after {@code now} of a number behind this place. */
  Instant nextSlot(Place place, Instant now) {
    return slot(Math.max(place.number(), calledAt(now)) + 1);
  }

  /** The highest number whose slot has come; it may not have been issued. */
  long calledAt(Instant now) {
    if (now.isBefore(from)) {
      return 0;
    }
    long millis = Duration.between(at, now).toMillis();
    long micro = (millis < 0 ? before : rate).microtokensPerMinute();
    long max = MAX_AHEAD * Ledger.UNIT / micro;
    long bounded = Math.max(-max, Math.min(max, millis));
    return anchor + Math.floorDiv(bounded * micro, Ledger.UNIT);
  }

  /** Whether any place is due or not yet due at {@code now}. */
  boolean isLiveAt(Instant now) {
    return issued > 0 && slot(issued).plus(DUE_FOR).isAfter(now);
  }

  /** The places whose token has appeared, or may have, and that are not void. */
  private long reservedAt(Instant now) {
    long first = Math.min(issued, calledAt(now.minus(DUE_FOR)));
    return Math.max(0, Math.min(issued, calledAt(now.plus(EARLIEST))) - first);
  }

  /** The state of a place at {@code now}. */
  Standing standing(Place place, Instant now) {
    if (place.epoch() != epoch) {
      return Standing.VOID;
    }
    Instant slot = slot(place.number());
    if (slot.isAfter(now.plus(SKEW))) {
      return Standing.WAITING;
    }
    boolean isTaken = place.number() <= issued;
    return isTaken && slot.plus(DUE_FOR).isAfter(now) ? Standing.DUE : Standing.VOID;
  }

  /** The state of a place. */
  public enum Standing {
    /**
     * Its slot has not come. If the place has not been taken, a concurrent claim of its caller is
     * about to take it.
     */
    WAITING,
    /** Its slot has come, {@link #DUE_FOR} ago at most, or comes within {@link #SKEW}. */
    DUE,
    /**
     * Its line was cleared, its slot is more than {@link #DUE_FOR} ago, or nobody took it before
     * its slot.
     */
    VOID
  }

  /** The number of places before this one whose slots have not come. */
  public long ahead(Place place, Instant now) {
    return Math.max(0, place.number() - 1 - Math.max(0, calledAt(now)));
  }

  /** The time of this many tokens, rounded up to milliseconds. */
  static Duration span(Rate rate, long tokens) {
    return Duration.ofMillis(millis(rate, tokens));
  }

  private static long millis(Rate rate, long tokens) {
    long bounded = Math.min(tokens, MAX_AHEAD);
    long per = rate.microtokensPerMinute();
    return (bounded * Ledger.UNIT + per - 1) / per;
  }
}
