package dev.tollgate.core.audit;

import dev.tollgate.core.TenantId;
import java.util.Map;

/** Port to entries of the audit about acts that change no settings. */
public interface AuditNotes {
  /**
   * Records what an operator is about to do for a tenant, without changing its settings or its
   * version, so that the audit has an entry. Does nothing if the tenant does not exist.
   *
   * @param details what the entry says about it, by name
   */
  void note(TenantId id, ChangeType what, Map<String, String> details);
}
