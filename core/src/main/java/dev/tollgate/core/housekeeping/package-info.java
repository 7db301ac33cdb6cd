/**
 * Ends expired sessions, drops lost connections, and corrects counts, once a minute. May import
 * core, fanout, session and tenant.
 */
@NullMarked
package dev.tollgate.core.housekeeping;

import org.jspecify.annotations.NullMarked;
