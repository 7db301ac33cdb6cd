/** Event source mappings: what queues and streams hold is brought to functions. */
@NullMarked
package dev.tollgate.local.events;

import org.jspecify.annotations.NullMarked;
