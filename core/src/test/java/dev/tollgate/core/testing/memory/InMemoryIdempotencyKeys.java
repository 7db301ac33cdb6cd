package dev.tollgate.core.testing.memory;

import dev.tollgate.core.WriteResult;
import dev.tollgate.core.idempotency.IdempotencyKey;
import dev.tollgate.core.idempotency.IdempotencyKeys;
import dev.tollgate.core.idempotency.KeyClaim;
import dev.tollgate.core.idempotency.KeyUse;
import dev.tollgate.core.idempotency.StoredResponse;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** Keys in memory. */
public final class InMemoryIdempotencyKeys implements IdempotencyKeys {
  private final Map<IdempotencyKey, Row> rows = new HashMap<>();
  private final Outage outage = new Outage();

  private record Row(KeyClaim claim, Optional<StoredResponse> answer, Instant expiresAt) {}

  /** The outage of all requests. */
  public Outage outage() {
    return outage;
  }

  @Override
  public synchronized KeyUse claim(KeyClaim claim, Instant now) {
    outage.check("claim");
    Row row = rows.get(claim.key());
    if (row == null || !row.expiresAt().isAfter(now)) {
      rows.put(claim.key(), new Row(claim, Optional.empty(), claim.endsAt()));
      return new KeyUse.Claimed();
    }
    if (!row.claim().fingerprint().equals(claim.fingerprint())) {
      return new KeyUse.OtherRequest();
    }
    return row.answer()
        .<KeyUse>map(KeyUse.Completed::new)
        .orElseGet(
            () ->
                row.claim().owner().equals(claim.owner())
                    ? new KeyUse.Claimed()
                    : new KeyUse.InProgress(row.expiresAt()));
  }

  @Override
  public synchronized WriteResult store(KeyClaim claim, StoredResponse answer, Instant until) {
    outage.check("store");
    if (ownRow(claim).isEmpty()) {
      return WriteResult.CONFLICT;
    }
    rows.put(claim.key(), new Row(claim, Optional.of(answer), until));
    return WriteResult.DONE;
  }

  @Override
  public synchronized void release(KeyClaim claim) {
    outage.check("release");
    ownRow(claim).filter(row -> row.answer().isEmpty()).ifPresent(row -> rows.remove(claim.key()));
  }

  private Optional<Row> ownRow(KeyClaim claim) {
    return Optional.ofNullable(rows.get(claim.key()))
        .filter(row -> row.claim().owner().equals(claim.owner()));
  }
}
