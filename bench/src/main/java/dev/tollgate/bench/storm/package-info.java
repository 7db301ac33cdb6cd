/**
 * Measures a deployment whose services fail and whose clients never stop. Imports {@code bench} and
 * {@code bench.client} only.
 */
@NullMarked
package dev.tollgate.bench.storm;

import org.jspecify.annotations.NullMarked;
