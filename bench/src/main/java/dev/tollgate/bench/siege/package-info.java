/** The attacks of {@code bench/siege}. May import only {@code bench} and {@code bench.client}. */
@NullMarked
package dev.tollgate.bench.siege;

import org.jspecify.annotations.NullMarked;
