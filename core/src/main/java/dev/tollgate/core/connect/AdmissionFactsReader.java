package dev.tollgate.core.connect;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.session.SessionId;

/** Reads the rows that an admission depends on. */
public interface AdmissionFactsReader {
  /**
   * Whether the tenant exists. Callers check this before they use a tenant's credentials, because
   * any caller can invent a tenant id. Both results are cached, a negative one for seconds.
   *
   * @throws Unavailable if the store fails
   */
  boolean tenantExists(TenantId tenant);

  /**
   * Tenant, session, count and bucket in one consistent request.
   *
   * @throws Unavailable if the store fails
   */
  AdmissionFacts read(TenantId tenant, SessionId session);
}
