/** The attacks of {@code bench/siege}, and what a neighbour feels of them. */
@NullMarked
package dev.tollgate.bench.siege;

import org.jspecify.annotations.NullMarked;
