/**
 * What state tenants are in by what lately happened to them, and tiers that stop enforcing their
 * limits by themselves. Imports core, history and tenant only.
 */
@NullMarked
package dev.tollgate.core.condition;

import org.jspecify.annotations.NullMarked;
