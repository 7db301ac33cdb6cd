/** Opens, renews and ends sessions, and stores their connections. May import core and tenant. */
@NullMarked
package dev.tollgate.core.session;

import org.jspecify.annotations.NullMarked;
