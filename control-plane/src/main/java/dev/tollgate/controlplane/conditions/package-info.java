/** Finds out every minute in which condition tenants are. May import core and invocation. */
@NullMarked
package dev.tollgate.controlplane.conditions;

import org.jspecify.annotations.NullMarked;
