package dev.tollgate.controlplane.doctor;

import dev.tollgate.core.Page;
import dev.tollgate.core.tenant.Tenant;
import dev.tollgate.core.tenant.Tenants;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Reads all tenants for a check that needs totals. One invocation has time for some hundred
 * thousand tenants.
 */
final class TenantPages {
  private static final int PAGE = 1_000;

  private TenantPages() {}

  /** Passes each readable tenant to {@code consumer}. */
  static void forEach(Tenants tenants, Consumer<Tenant> consumer) {
    Optional<String> cursor = Optional.empty();
    do {
      Page<Tenant> page = tenants.list(cursor, PAGE);
      page.items().forEach(consumer);
      cursor = page.next();
    } while (cursor.isPresent());
  }
}
