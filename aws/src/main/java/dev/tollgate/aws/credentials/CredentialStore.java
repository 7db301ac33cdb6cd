package dev.tollgate.aws.credentials;

import dev.tollgate.core.TenantId;
import java.time.Instant;
import java.util.Optional;

/**
 * Tenants' credentials that the instances of a function share. The store is an optimization: no
 * method fails. If the store is unavailable, it is empty, stores nothing, and permits no renewal.
 */
public interface CredentialStore {
  /** For a process that shares with no other: it stores nothing and permits every renewal. */
  CredentialStore NONE =
      new CredentialStore() {
        @Override
        public Optional<TemporaryCredentials> find(TenantId tenant) {
          return Optional.empty();
        }

        @Override
        public boolean claimRenewal(TenantId tenant, Instant endsAt, Instant now) {
          return true;
        }

        @Override
        public void store(TenantId tenant, TemporaryCredentials credentials) {}
      };

  /** The tenant's credentials, perhaps expired, eventually consistent. */
  Optional<TemporaryCredentials> find(TenantId tenant);

  /**
   * Asks for the right to renew the tenant's credentials. Only one caller has it, for {@value
   * #RENEWAL_SECONDS} seconds, or until it stores the new credentials.
   *
   * @param endsAt the end of the credentials that the caller knows; if the store has others, the
   *     answer is no
   */
  boolean claimRenewal(TenantId tenant, Instant endsAt, Instant now);

  /** Stores new credentials of the tenant in place of others. */
  void store(TenantId tenant, TemporaryCredentials credentials);

  /** How long others wait for a renewal. An STS call with its retries takes four at most. */
  int RENEWAL_SECONDS = 30;
}
