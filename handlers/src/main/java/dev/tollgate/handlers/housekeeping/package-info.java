/** The functions that end sessions and repair connection counts. May import core and handlers. */
@NullMarked
package dev.tollgate.handlers.housekeeping;

import org.jspecify.annotations.NullMarked;
