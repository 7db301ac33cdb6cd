package dev.tollgate.core.testing.memory;

import dev.tollgate.core.audit.AuditLog;
import dev.tollgate.core.testing.contract.AuditLogContract;

class InMemoryAuditLogTest extends AuditLogContract {
  private final AuditLog log = new InMemoryAuditLog();

  @Override
  protected AuditLog log() {
    return log;
  }
}
