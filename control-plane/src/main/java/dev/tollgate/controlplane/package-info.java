/** The onboarding API: tenants, tiers, and the reconciler that brings about what they need. */
@NullMarked
package dev.tollgate.controlplane;

import org.jspecify.annotations.NullMarked;
