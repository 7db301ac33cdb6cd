package dev.tollgate.core.admission;

import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketGate;
import dev.tollgate.core.bucket.BucketGate.Hand;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Claim;
import dev.tollgate.core.bucket.Lease;
import dev.tollgate.core.session.Session;
import dev.tollgate.core.session.SessionId;
import dev.tollgate.core.tenant.Limit;
import dev.tollgate.core.tenant.OnUnavailable;
import dev.tollgate.core.tenant.Tenant;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * Decides whether a connection may be made, and holds a token for it.
 *
 * <p>The read and the first try for a token go out together, so an admitted connection waits for
 * the slower of the two, not for both. A token that the read then forbids goes back at once. A
 * process that has just found the bucket empty reads first. Everything else about the bucket is
 * decided by the {@link BucketGate}.
 */
public final class Admission {
  private final FactsReader reader;
  private final BucketGate gate;
  private final RefusalTally tally;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * An admission by what {@code reader} tells and with tokens that {@code gate} holds.
   *
   * @param tally counts the refusals of known tenants
   * @param executor runs the first try beside the read
   */
  public Admission(
      FactsReader reader,
      BucketGate gate,
      RefusalTally tally,
      Executor executor,
      InstantSource clock) {
    this.reader = reader;
    this.gate = gate;
    this.tally = tally;
    this.executor = executor;
    this.clock = clock;
  }

  /**
   * Decides on a connection to a session.
   *
   * @throws Unavailable if the rows cannot be read
   */
  public Verdict decide(TenantId tenant, SessionId session) {
    if (!reader.knows(tenant)) {
      return new Verdict.Refused(Refusal.UNKNOWN);
    }
    BucketId bucket = new BucketId(tenant, Action.CONNECT);
    if (gate.believesEmpty(bucket)) {
      Facts facts = reader.read(tenant, session);
      Optional<Verdict.Refused> refusal = facts.refusalAt(clock.instant());
      return refusal.isPresent()
          ? counted(facts, refusal.get(), () -> {})
          : verdict(bucket, session, facts, new Hand());
    }
    CompletableFuture<Hand> trying =
        CompletableFuture.supplyAsync(() -> gate.firstTry(bucket), executor);
    Facts facts = readOrGiveBack(bucket, session, trying);
    Hand hand = trying.join();
    Optional<Verdict.Refused> refusal = facts.refusalAt(clock.instant());
    return refusal.isPresent()
        ? counted(facts, refusal.get(), () -> gate.giveBack(bucket, hand))
        : verdict(bucket, session, facts, hand);
  }

  private Verdict verdict(BucketId bucket, SessionId session, Facts facts, Hand hand) {
    Tenant known = facts.tenant().orElseThrow();
    Claim claim = gate.claim(bucket, facts.bucket(), hand);
    if (claim instanceof Claim.Granted granted) {
      return ticket(known, session, facts, granted.leases().stream().findFirst());
    }
    if (claim instanceof Claim.Denied denied) {
      return counted(
          facts, new Verdict.Refused(Refusal.TENANT_RATE, Optional.of(denied.retryAt())), () -> {});
    }
    return known.onUnavailable() == OnUnavailable.ADMIT
        ? ticket(known, session, facts, Optional.empty())
        : counted(facts, new Verdict.Refused(Refusal.UNDECIDED), () -> {});
  }

  /**
   * A refusal that is counted while the rest is done for it. A tenant that the read does not find
   * has nobody to count it for.
   */
  private Verdict.Refused counted(Facts facts, Verdict.Refused refusal, Runnable besides) {
    facts
        .tenant()
        .ifPresentOrElse(known -> tally.count(known.id(), refusal.why(), besides), besides);
    return refusal;
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
            tenant.limits().get(Limit.SESSION_TTL),
            facts.session().flatMap(used -> used.lastsUntil(tenant.limits())),
            facts.session().flatMap(Session::arrival),
            tenant.onUnavailable(),
            lease));
  }

  private Facts readOrGiveBack(BucketId bucket, SessionId session, CompletableFuture<Hand> trying) {
    try {
      return reader.read(bucket.tenant(), session);
    } catch (RuntimeException failed) {
      gate.giveBack(bucket, trying.join());
      throw failed;
    }
  }
}
