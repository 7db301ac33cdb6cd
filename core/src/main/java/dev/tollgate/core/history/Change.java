package dev.tollgate.core.history;

import dev.tollgate.core.TenantId;
import java.time.Instant;

/**
 * What one write of a tenant's row tells.
 *
 * @param at when it was written
 */
public record Change(TenantId tenant, Instant at, Counts counts) {}
