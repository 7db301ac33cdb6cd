/** A league table of rate limiters, judged by the law book. */
@NullMarked
package dev.tollgate.league;

import org.jspecify.annotations.NullMarked;
