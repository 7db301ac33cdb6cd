package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.Optional;

/**
 * Where silos are written down. Every method throws {@link Unavailable} if that could not be asked.
 */
public interface Silos {
  /** The tenant's silo as it stands, read consistently. */
  Optional<Silo> find(TenantId tenant);

  /** Writes a new silo down, unless there is one. */
  WriteResult open(Silo silo);

  /** Replaces what is written, if its version is still the one before {@code next}'s. */
  WriteResult replace(Silo next);

  /** Forgets the silo, if its version is still this one; harmless if there is none. */
  WriteResult remove(TenantId tenant, long version);
}
