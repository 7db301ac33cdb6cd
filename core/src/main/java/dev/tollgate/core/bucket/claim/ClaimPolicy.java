package dev.tollgate.core.bucket.claim;

import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.EmptyHint;
import dev.tollgate.core.bucket.Forecast;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Line.Standing;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;

/**
 * Decides what a claim does next, by the row of its bucket. It sends no request and keeps nothing.
 *
 * <table>
 *   <caption>The next step of a claim</caption>
 *   <tr><th>The line at this instant</th><th>The claim</th><th>Its next step</th></tr>
 *   <tr><td>nobody waits, or it is switched off</td><td>any</td><td>{@link Receive}</td></tr>
 *   <tr><td>somebody waits</td><td>for several tokens</td><td>{@link Refuse}, until all places have
 *     passed</td></tr>
 *   <tr><td></td><td>of a place that is due</td><td>{@link Redeem}</td></tr>
 *   <tr><td>it has a spare token</td><td>any other</td><td>{@link TakeSpare}; if another claim was
 *     faster, as without one</td></tr>
 *   <tr><td>it has none</td><td>of a place whose slot has not come</td><td>{@link Refuse}, until its
 *     slot</td></tr>
 *   <tr><td></td><td>of a caller that takes no place, before the next slot</td><td>{@link Refuse},
 *     until the next slot</td></tr>
 *   <tr><td></td><td>any other</td><td>{@link Enter}</td></tr>
 * </table>
 */
final class ClaimPolicy {
  /**
   * How late a minted token may be before the caller that waits for it moves its slot; and how long
   * after its next retry time its place must be due to stay.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(4);

  /** How long after its retry time a caller may come, which has whole seconds. */
  private static final Duration RETURN = Duration.ofMillis(1_500);

  private ClaimPolicy() {}

  /**
   * What is claimed, and for whom.
   *
   * @param tokens 1 or more
   * @param place the caller's place, if it has one
   * @param mayWait whether the caller takes a place in line if it is refused
   */
  record Request(int tokens, Optional<Place> place, boolean mayWait) {
    /** A request of a caller that takes no place. */
    static Request withoutPlace(int tokens) {
      return new Request(tokens, Optional.empty(), false);
    }
  }

  /** What a claim does next. */
  sealed interface Step {}

  /** It asks the queue. */
  record Receive() implements Step {}

  /** It asks the queue for the token of a place. */
  record Redeem(Place place) implements Step {}

  /** It takes a spare token of the line and asks the queue; if it gets none, it goes on. */
  record TakeSpare(Step otherwise) implements Step {}

  /** It takes a place in the line. */
  record Enter(Line line) implements Step {}

  /** It is refused. */
  record Refuse(Denied refusal) implements Step {}

  /** The next step of a claim by a row just read. */
  static Step next(Forecast row, Request request) {
    Optional<Line> line = row.line();
    if (line.isEmpty()) {
      return new Receive();
    }
    return request.tokens() == 1
        ? inLine(row, line.get(), request)
        : new Refuse(new Denied(row.lineEnds(request.tokens()).orElseThrow()));
  }

  private static Step inLine(Forecast row, Line line, Request request) {
    Standing standing = request.place().map(row::standing).orElse(Standing.VOID);
    if (standing == Standing.DUE) {
      return new Redeem(request.place().orElseThrow());
    }
    Instant next = line.slot(line.issued() + 1);
    Step step =
        standing == Standing.WAITING
            ? new Refuse(waiting(line, request.place().orElseThrow()))
            : request.mayWait() || !next.isAfter(row.now())
                ? new Enter(line)
                : new Refuse(new Denied(next));
    return line.spare() > 0 ? new TakeSpare(step) : step;
  }

  /**
   * The refusal of a claim, as far as it follows from a row that was read a while ago: nobody needs
   * to write anything.
   */
  static Optional<Denied> refusal(Forecast known, Request request) {
    if (known.line().isEmpty()) {
      boolean opensLine = request.mayWait() && known.row().spec().keepsLine();
      return opensLine ? Optional.empty() : refusalWhileEmpty(known, request.tokens());
    }
    boolean mayWrite =
        request.tokens() == 1 && (known.needsFill() || known.lineRetuned().isPresent());
    return next(known, request) instanceof Refuse refuse && !mayWrite
        ? Optional.of(refuse.refusal())
        : Optional.empty();
  }

  /** The refusal of a claim for n tokens while the bucket has a valid {@link EmptyHint}. */
  static Optional<Denied> refusalWhileEmpty(Forecast row, int n) {
    return row.isKnownEmpty() ? Optional.of(new Denied(row.nextTokens(n))) : Optional.empty();
  }

  /** The refusal of a place whose slot has not come. */
  static Denied waiting(Line line, Place place) {
    return new Denied(line.slot(place.number()), Optional.of(place));
  }

  /**
   * When the caller of a due place claims again that found no token. After a change of the rate,
   * {@code nextToken} is behind all tokens minted at the rate before.
   */
  static Instant retryAt(Forecast row, Place place, Instant nextToken) {
    return row.nextMintedSlot(place).filter(nextToken::isAfter).orElse(nextToken);
  }

  /**
   * The line after a place that is due got no token: its slot moves to {@code retryAt}. Empty if it
   * stays, because the token is not {@link #PATIENCE} late, or not minted, and the place is still
   * due when its caller comes back.
   */
  static Optional<Line> moved(Forecast row, Place place, Instant retryAt) {
    Bucket bucket = row.row();
    // A fill that is late sends all that is owed, so the places behind keep their slots.
    Instant slot = bucket.line().orElseThrow().slot(place.number());
    boolean isOwed = bucket.owes(slot);
    boolean isPatient = isOwed || row.now().isBefore(slot.plus(PATIENCE));
    Instant comesBy = retryAt.plus(isOwed ? RETURN : PATIENCE);
    return isPatient && bucket.at(comesBy).standing(place) == Standing.DUE
        ? Optional.empty()
        : bucket.lineMoved(place, retryAt);
  }
}
