package dev.tollgate.aws.credentials;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;

/** A {@link CredentialStore} in memory, which can be made unavailable. */
final class InMemoryCredentialStore implements CredentialStore {
  private record Stored(TemporaryCredentials credentials, Instant renewedUntil) {}

  private final Map<TenantId, Stored> rows = new HashMap<>();
  private boolean lost;
  private long requests;

  /** Makes every request fail. */
  synchronized void lose() {
    lost = true;
  }

  /** How many requests there were. */
  synchronized long requests() {
    return requests;
  }

  @Override
  public synchronized Optional<TemporaryCredentials> find(TenantId tenant) {
    requests++;
    return Optional.ofNullable(rows.get(tenant)).filter(row -> !lost).map(Stored::credentials);
  }

  @Override
  public synchronized boolean claimRenewal(TenantId tenant, Instant endsAt, Instant now) {
    requests++;
    Optional<Stored> renewable =
        Optional.ofNullable(rows.get(tenant))
            .filter(row -> !lost && row.credentials.endsAt().equals(endsAt))
            .filter(row -> !now.isBefore(row.renewedUntil));
    renewable.ifPresent(
        row -> rows.put(tenant, new Stored(row.credentials, now.plusSeconds(RENEWAL_SECONDS))));
    return renewable.isPresent();
  }

  @Override
  public synchronized void store(TenantId tenant, TemporaryCredentials credentials) {
    requests++;
    if (!lost) {
      rows.put(tenant, new Stored(credentials, Instant.MIN));
    }
  }
}
