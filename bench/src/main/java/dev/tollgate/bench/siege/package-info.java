/** The attacks of {@code bench/siege}. Imports {@code bench} and {@code bench.client} only. */
@NullMarked
package dev.tollgate.bench.siege;

import org.jspecify.annotations.NullMarked;
