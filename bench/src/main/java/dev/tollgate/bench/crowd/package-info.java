/** How many tenants and open sockets one machine holds: the command {@code crowd}. */
@NullMarked
package dev.tollgate.bench.crowd;

import org.jspecify.annotations.NullMarked;
