/**
 * The resources of tenants: bucket queues, and the queues and functions of silos. May import core,
 * bucket and tenant.
 */
@NullMarked
package dev.tollgate.core.provisioning;

import org.jspecify.annotations.NullMarked;
