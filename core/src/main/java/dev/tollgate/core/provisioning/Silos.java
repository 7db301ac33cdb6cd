package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.Optional;

/** Stores silos. Every method throws {@link Unavailable} if the store fails. */
public interface Silos {
  /** The tenant's silo, read consistently. */
  Optional<Silo> find(TenantId tenant);

  /** Creates a silo, unless it exists. */
  WriteResult open(Silo silo);

  /** Replaces the silo, if the stored version is still the one before {@code next}'s. */
  WriteResult replace(Silo next);

  /** Deletes the silo, if its version is still this one. Does nothing if it does not exist. */
  WriteResult remove(TenantId tenant, long version);
}
