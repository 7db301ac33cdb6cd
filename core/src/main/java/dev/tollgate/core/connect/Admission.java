package dev.tollgate.core.connect;

import dev.tollgate.core.Action;
import dev.tollgate.core.NoCredentials;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.bucket.Line;
import dev.tollgate.core.bucket.Place;
import dev.tollgate.core.bucket.claim.BucketMemory.Mark;
import dev.tollgate.core.bucket.claim.ClaimResult;
import dev.tollgate.core.bucket.claim.Claims;
import dev.tollgate.core.bucket.claim.LineCaller;
import dev.tollgate.core.bucket.claim.TokenSearch.Attempt;
import dev.tollgate.core.enforcement.AdmitAll;
import dev.tollgate.core.enforcement.Enforcement;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.session.Sessions;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.LimitMode;
import dev.tollgate.core.tenant.Limits;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Decides whether a connection is admitted, and holds a token for it.
 *
 * <p>The read and the first try for a token go out together, so an admitted connection waits for
 * the slower of the two, not for both. A process that has just found the bucket empty reads first.
 * The {@link Claims} decide whether the bucket grants the token.
 *
 * <h2>What a refused handshake can hold</h2>
 *
 * Anybody who knows a tenant's id can send handshakes with invented session ids, which the read
 * refuses. Such a refusal returns the token that its first try received. It waits at most {@link
 * #RETURN_WAIT} for the try and the return. After that the process reads first for this tenant: for
 * {@link #READ_FIRST}, or, if the token may not be returned yet, until its lease ends. Lambda
 * freezes a process after its response, and the process returns the token only when it is resumed.
 *
 * <p>So a process that handles one handshake at a time sends at most one try for a tenant in five
 * seconds because of handshakes that the read refuses. It holds at most one token of the tenant:
 * for milliseconds if the queue responds within {@link #RETURN_WAIT}, and for {@link Claims#LEASE}
 * at most. N processes hold at most N tokens, however many such handshakes arrive.
 */
public final class Admission {
  /**
   * How long a refusal by the read waits until the received token is returned. The first request of
   * a new process to SQS takes some 90 ms at the 95th percentile. With a shorter wait, a burst that
   * starts processes would leave each of them frozen with a token.
   */
  static final Duration RETURN_WAIT = Duration.ofMillis(200);

  /** How long after its slot a session in line still exists. */
  static final Duration HOLDING = Duration.ofSeconds(30);

  /** How long a process reads first for a tenant after the read refused a handshake. */
  static final Duration READ_FIRST = Duration.ofSeconds(5);

  private final AdmissionFactsReader reader;
  private final Claims claims;
  private final Sessions sessions;
  private final RefusalTally tally;
  private final Enforcement enforcement;
  private final Executor executor;
  private final Pause pause;
  private final InstantSource clock;

  /**
   * Admission based on the rows that {@code reader} reads and the tokens that {@code claims} holds.
   *
   * @param sessions stores the places of sessions in line
   * @param tally counts the refusals of known tenants
   * @param enforcement whether a limit may refuse a connection
   * @param executor runs the receive concurrently with the read
   * @param pause waits for {@link #RETURN_WAIT}
   */
  public Admission(
      AdmissionFactsReader reader,
      Claims claims,
      Sessions sessions,
      RefusalTally tally,
      Enforcement enforcement,
      Executor executor,
      Pause pause,
      InstantSource clock) {
    this.reader = reader;
    this.claims = claims;
    this.sessions = sessions;
    this.tally = tally;
    this.enforcement = enforcement;
    this.executor = executor;
    this.pause = pause;
    this.clock = clock;
  }

  /**
   * Decides on a connection to a session. Without credentials the rows cannot be read, so neither
   * the tier nor the session is known. The connection is then refused as undecided, whatever its
   * tier says.
   *
   * @throws Unavailable if the rows cannot be read for another reason
   */
  public AdmissionDecision decide(TenantId tenant, SessionId session) {
    try {
      return tally.writeRestDuring(() -> decision(tenant, session));
    } catch (NoCredentials none) {
      return new AdmissionDecision.Refused(
          Refusal.UNDECIDED, Optional.empty(), false, Optional.of(none.reason()));
    }
  }

  private AdmissionDecision decision(TenantId tenant, SessionId session) {
    if (!reader.tenantExists(tenant)) {
      return new AdmissionDecision.Refused(Refusal.UNKNOWN);
    }
    Optional<AdmitAll> lifted = enforcement.knownLifted();
    if (lifted.isPresent()) {
      AdmissionFacts facts = reader.read(tenant, session);
      return AdmissionRules.denial(facts, clock.instant())
          .map(denial -> refused(facts, denial, () -> {}))
          .orElseGet(() -> withoutLimits(facts, lifted.get()));
    }
    BucketId bucket = new BucketId(tenant, Action.CONNECT);
    if (claims.memory().hasAny(bucket, Mark.EMPTY, Mark.LINE, Mark.REFUSED_BY_READ)) {
      return decide(bucket, reader.read(tenant, session), Optional.empty());
    }
    CompletableFuture<Attempt> trying =
        CompletableFuture.supplyAsync(() -> claims.firstTry(bucket), executor);
    AdmissionFacts facts = readOrWithdraw(bucket, session, trying);
    return decide(bucket, facts, Optional.of(trying));
  }

  /**
   * Decides by the rows and the bucket.
   *
   * @param trying the first try for a token; empty if none was made
   */
  private AdmissionDecision decide(
      BucketId bucket, AdmissionFacts facts, Optional<CompletableFuture<Attempt>> trying) {
    Runnable withdrawing = () -> trying.ifPresent(tried -> withdraw(bucket, tried));
    Instant now = clock.instant();
    Optional<AdmissionDecision.Refused> refusal = AdmissionRules.refusal(facts, now);
    if (refusal.isPresent()) {
      return refused(facts, refusal.get(), withdrawing);
    }
    Tenant tenant = facts.tenant().orElseThrow();
    Ticket open = Ticket.of(tenant, facts.session().orElseThrow(), tenant.limits());
    Ticket ticket = AdmissionRules.wouldRefuse(facts, now).map(open::letThrough).orElse(open);
    if (!ticket.bounds().needToken()) {
      withdrawing.run();
      return new AdmissionDecision.Ticketed(ticket);
    }
    return claim(
        bucket, facts, ticket, trying.map(CompletableFuture::join).orElseGet(Attempt::new));
  }

  private AdmissionDecision claim(
      BucketId bucket, AdmissionFacts facts, Ticket ticket, Attempt first) {
    WaitingSession waiting = new WaitingSession(facts);
    ClaimResult claim =
        facts
            .bucket()
            .map(read -> claims.hold(read, waiting, first))
            .orElseGet(() -> claims.hold(bucket, first));
    if (claim instanceof ClaimResult.Granted granted) {
      Optional<Instant> slot = waiting.redeemedSlot();
      Optional<Lease> lease = granted.leases().stream().findFirst();
      return new AdmissionDecision.Ticketed(
          ticket.with(lease, slot.flatMap(due -> waiting.place())), slot, Optional.empty());
    }
    Refusal why = claim instanceof ClaimResult.Denied ? Refusal.TENANT_RATE : Refusal.UNDECIDED;
    if (claim instanceof ClaimResult.Undecided failed
        && failed.isOutage()
        && ticket.onUnavailable() == OnUnavailable.ADMIT) {
      return new AdmissionDecision.Ticketed(
          ticket, waiting.redeemedSlot(), Optional.of(failed.cause()));
    }
    if (ticket.bounds().observes(why)) {
      return new AdmissionDecision.Ticketed(ticket.letThrough(why));
    }
    if (claim instanceof ClaimResult.Undecided failed) {
      return refused(
          facts,
          new AdmissionDecision.Refused(why, Optional.empty(), false, Optional.of(failed.cause())),
          () -> {});
    }
    ClaimResult.Denied denied = (ClaimResult.Denied) claim;
    waiting.lastUntil(denied);
    Optional<Place> before = facts.session().flatMap(Session::place);
    boolean placeTaken = denied.place().isPresent() && !denied.place().equals(before);
    return refused(
        facts,
        new AdmissionDecision.Refused(
            why, Optional.of(denied.retryAt()), placeTaken, Optional.empty()),
        () -> {});
  }

  /**
   * A session that may wait in line, unless it must end before its slot. If it may last so long, it
   * ends no earlier than {@link #HOLDING} after its slot.
   */
  private final class WaitingSession implements LineCaller {
    private final AdmissionFacts facts;
    private final Limits limits;
    private Session session;
    private Optional<Instant> keptSlot = Optional.empty();

    WaitingSession(AdmissionFacts facts) {
      this.facts = facts;
      this.limits = facts.tenant().orElseThrow().limits();
      this.session = facts.session().orElseThrow();
    }

    @Override
    public Optional<Place> place() {
      return session.place();
    }

    /** Nobody waits for an observed rate, even while the bucket's row still has a line. */
    @Override
    public boolean mayWait() {
      return limits.mode(Limit.TENANT_PER_MINUTE) == LimitMode.ENFORCE;
    }

    @Override
    public boolean lasts(Instant slot) {
      return (mayWait() || !slot.isAfter(clock.instant()))
          && session.latestEnd(limits).filter(end -> !end.isAfter(slot)).isEmpty();
    }

    @Override
    public boolean expect(Place place, Instant slot) {
      return keep(place, false, slot);
    }

    @Override
    public boolean keep(Place place, Instant slot) {
      return keep(place, true, slot);
    }

    private boolean keep(Place place, boolean isTaken, Instant slot) {
      Instant end = endFor(slot);
      boolean kept =
          sessions.keepPlace(session, place, isTaken, end, clock.instant()) == WriteResult.DONE;
      session =
          session
              .with(Optional.of(place), isTaken)
              .endingAt(end.isAfter(session.endsAt()) ? end : session.endsAt());
      keptSlot = Optional.of(slot);
      return kept;
    }

    private Instant endFor(Instant slot) {
      Instant needed = slot.plus(HOLDING);
      return session.latestEnd(limits).filter(needed::isAfter).orElse(needed);
    }

    /** Moves the session's end if the slot of its place has moved behind it. */
    void lastUntil(ClaimResult.Denied denied) {
      Instant slot = denied.retryAt();
      boolean isTooShort = endFor(slot).getEpochSecond() > session.endsAt().getEpochSecond();
      if (isTooShort && denied.place().isPresent() && denied.place().equals(session.place())) {
        try {
          keep(session.place().orElseThrow(), session.placeTaken(), slot);
        } catch (Unavailable unavailable) {
          return;
        }
      }
    }

    /** The slot of the place whose token a claim was granted; empty if it needed no place. */
    Optional<Instant> redeemedSlot() {
      return keptSlot.or(() -> facts.bucket().flatMap(read -> dueSlot(read, clock.instant())));
    }

    private Optional<Instant> dueSlot(Bucket read, Instant now) {
      return session
          .place()
          .filter(place -> read.at(now).standing(place) == Line.Standing.DUE)
          .flatMap(place -> read.line().map(waited -> waited.slot(place.number())));
    }
  }

  /**
   * Refuses a connection, unless a limit refuses it and limits are lifted, while {@code besides}
   * runs. A refusal is counted, except that of a handshake without a known session: invented
   * session ids add nothing to a tenant's refusals.
   */
  private AdmissionDecision refused(
      AdmissionFacts facts, AdmissionDecision.Refused refusal, Runnable besides) {
    Optional<AdmitAll> lifted =
        refusal.refusal().limit().isPresent() ? enforcement.lifted() : Optional.empty();
    if (lifted.isPresent() || refusal.refusal() == Refusal.UNKNOWN) {
      besides.run();
    } else {
      tally.count(facts.tenant().orElseThrow().id(), refusal.refusal(), besides);
    }
    return lifted.<AdmissionDecision>map(why -> withoutLimits(facts, why)).orElse(refusal);
  }

  /** Admits a connection that no limit may refuse. It claims no token. */
  private static AdmissionDecision withoutLimits(AdmissionFacts facts, AdmitAll why) {
    Tenant tenant = facts.tenant().orElseThrow();
    return new AdmissionDecision.Ticketed(
        Ticket.of(tenant, facts.session().orElseThrow(), tenant.limits()).withoutLimits(),
        Optional.empty(),
        Optional.of("all are admitted until " + why.until() + ": " + why.reason()));
  }

  private AdmissionFacts readOrWithdraw(
      BucketId bucket, SessionId session, CompletableFuture<Attempt> trying) {
    try {
      return reader.read(bucket.tenant(), session);
    } catch (RuntimeException failed) {
      withdraw(bucket, trying);
      throw failed;
    }
  }

  /** Returns the token that the first try receives, and waits at most {@link #RETURN_WAIT}. */
  private void withdraw(BucketId bucket, CompletableFuture<Attempt> trying) {
    readFirst(bucket, READ_FIRST);
    CompletableFuture<Void> givenBack =
        trying.thenAcceptAsync(attempt -> claims.held().giveBack(bucket, attempt), executor);
    if (!givenBack.isDone()) {
      CompletableFuture.anyOf(
              givenBack, CompletableFuture.runAsync(() -> pause.of(RETURN_WAIT), executor))
          .join();
    }
    if (!givenBack.isDone()) {
      readFirst(bucket, Claims.LEASE);
    }
  }

  private void readFirst(BucketId bucket, Duration time) {
    claims.memory().mark(bucket, Mark.REFUSED_BY_READ, clock.instant().plus(time));
  }
}
