/** The attacks of {@code bench/attacks}. May import only {@code bench} and {@code bench.client}. */
@NullMarked
package dev.tollgate.bench.attacks;

import org.jspecify.annotations.NullMarked;
