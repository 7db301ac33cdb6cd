/** The harness of the benchmarks. Imports {@code bench.client} only. */
@NullMarked
package dev.tollgate.bench;

import org.jspecify.annotations.NullMarked;
