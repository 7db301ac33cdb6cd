package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.SessionId;

/** Reads what an admission is decided on. */
public interface AdmissionFactsReader {
  /**
   * Whether there is a tenant of this name. Asked before anything is done in a tenant's name, since
   * names come from strangers; both answers are remembered, "no" for seconds.
   *
   * @throws Unavailable if that could not be asked
   */
  boolean tenantExists(TenantId tenant);

  /**
   * Tenant, session, count and bucket in one consistent request.
   *
   * @throws Unavailable if that could not be asked
   */
  AdmissionFacts read(TenantId tenant, SessionId session);
}
