/**
 * Measures a deployment whose services fail and whose clients never stop. May import only {@code
 * bench}, {@code bench.client} and the module {@code client}.
 */
@NullMarked
package dev.tollgate.bench.storm;

import org.jspecify.annotations.NullMarked;
