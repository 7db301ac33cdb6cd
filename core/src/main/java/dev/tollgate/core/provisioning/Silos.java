package dev.tollgate.core.provisioning;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.Written;
import java.util.Optional;

/**
 * Where silos are written down. Every method throws {@link Unavailable} if that could not be asked.
 */
public interface Silos {
  /** The tenant's silo as it stands, read consistently. */
  Optional<Silo> find(TenantId tenant);

  /** Writes a new silo down, unless there is one. */
  Written open(Silo silo);

  /** Replaces what is written, if its version is still the one before {@code next}'s. */
  Written replace(Silo next);

  /** Forgets the silo, if its version is still this one; harmless if there is none. */
  Written remove(TenantId tenant, long version);
}
