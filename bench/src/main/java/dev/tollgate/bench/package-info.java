/** The harness of the benchmarks. May import only {@code bench.client}. */
@NullMarked
package dev.tollgate.bench;

import org.jspecify.annotations.NullMarked;
