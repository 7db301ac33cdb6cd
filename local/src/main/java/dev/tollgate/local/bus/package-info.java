/** The default event bus of EventBridge. */
@NullMarked
package dev.tollgate.local.bus;

import org.jspecify.annotations.NullMarked;
