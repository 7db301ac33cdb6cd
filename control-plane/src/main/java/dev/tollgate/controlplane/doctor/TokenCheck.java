package dev.tollgate.controlplane.doctor;

import dev.tollgate.controlplane.invocation.Invocation;
import dev.tollgate.controlplane.invocation.Ports;
import dev.tollgate.controlplane.invocation.ReconcileOutcome;
import dev.tollgate.core.Action;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.UnreadableRow;
import dev.tollgate.core.bucket.Bucket;
import dev.tollgate.core.bucket.MissingQueue;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.connect.TenantActivity;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * Checks that a tenant's connections are no more than the tokens of its bucket {@code connect}.
 * Each token that was minted was spent, expired or was lost, unless it is in the queue. So the
 * connections that were admitted with a token are at most the tokens that are gone.
 *
 * <p>The queue's count may be a minute old, and a recount finds a handshake that crashed after two.
 * So the tokens in the queue are subtracted only if no connection was admitted for {@link #QUIET}.
 * Otherwise the connections are compared with all minted tokens, which needs no tolerance: a fill
 * stores the number of its tokens before it sends them.
 */
final class TokenCheck implements Check {
  /** Longer than the age of a queue's count, and than a recount needs to find a crash. */
  static final Duration QUIET = Duration.ofMinutes(3);

  private final Ports ports;
  private final InstantSource clock;
  private final TenantId id;

  TokenCheck(Ports ports, InstantSource clock, TenantId id) {
    this.ports = ports;
    this.clock = clock;
    this.id = id;
  }

  @Override
  public List<Finding> findings() {
    try {
      TenantActivity activity = ports.activity().of(id);
      return counted(activity).flatMap(row -> overAdmission(row, activity)).stream().toList();
    } catch (UnreadableRow | MissingQueue reportedByTenantCheck) {
      return List.of();
    }
  }

  /** The part of the check that needs nothing but the rows, and holds at any time. */
  static Optional<Finding> beyondMinted(TenantActivity activity) {
    return counted(activity).flatMap(row -> beyondMinted(row, activity));
  }

  /** The bucket of connections, if all its minted tokens are counted. */
  private static Optional<Bucket> counted(TenantActivity activity) {
    return activity.buckets().stream()
        .filter(row -> row.id().action().equals(Action.CONNECT) && row.mintedInFull())
        .findAny();
  }

  private static Optional<Finding> beyondMinted(Bucket row, TenantActivity activity) {
    long admitted = activity.admitted() - activity.withoutToken();
    return admitted <= row.minted()
        ? Optional.empty()
        : Optional.of(
            Finding.overAdmitted(
                row.id(),
                "%,d connections admitted with a token, %,d tokens minted (expected: at least %,d tokens)"
                    .formatted(admitted, row.minted(), admitted)));
  }

  private Optional<Finding> overAdmission(Bucket row, TenantActivity activity) {
    Optional<Finding> beyondMinted = beyondMinted(row, activity);
    if (beyondMinted.isPresent()) {
      return beyondMinted;
    }
    long admitted = activity.admitted() - activity.withoutToken();
    Instant quietSince = clock.instant().minus(QUIET);
    if (activity.admittedLastAt().filter(quietSince::isBefore).isPresent()) {
      return Optional.empty();
    }
    TokenQueue.Level queue = ports.tokens().countTokens(row.id());
    long gone = row.minted() - queue.tokens();
    return admitted <= gone
        ? Optional.empty()
        : Optional.of(
            Finding.overAdmitted(
                row.id(),
                "%,d connections admitted with a token, %,d tokens gone: %,d minted, %,d in the queue, %,d in flight (expected: at least %,d tokens gone)"
                    .formatted(
                        admitted,
                        gone,
                        row.minted(),
                        queue.visible() + queue.delayed(),
                        queue.held(),
                        admitted)));
  }

  /**
   * {@inheritDoc}
   *
   * <p>A connection cannot be admitted later, and a token cannot be spent later.
   */
  @Override
  public List<ReconcileOutcome> repair(List<Finding> findings, Invocation invocation) {
    return Collections.nCopies(
        findings.size(),
        new ReconcileOutcome.Pending(
            List.of(
                "no repair exists; find the cause: docs/how-to/repair.md, section Over-admitted")));
  }
}
