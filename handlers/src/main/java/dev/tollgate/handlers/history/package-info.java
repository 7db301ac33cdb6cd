/** The function that writes what happened to tenants. May import core and handlers. */
@NullMarked
package dev.tollgate.handlers.history;

import org.jspecify.annotations.NullMarked;
