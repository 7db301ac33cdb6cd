/** Limiters on real stores, as processes for the line protocol of the law book. */
@NullMarked
package dev.tollgate.league.stores;

import org.jspecify.annotations.NullMarked;
