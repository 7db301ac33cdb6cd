/**
 * The faults of a local cloud: planned ones, which a seed repeats, and injected ones. It may import
 * the packages whose behaviour it changes; none of those imports it.
 */
@NullMarked
package dev.tollgate.local.faults;

import org.jspecify.annotations.NullMarked;
