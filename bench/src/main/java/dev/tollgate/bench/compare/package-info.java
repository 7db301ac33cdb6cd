/** Compares Tollgate with what a user would pick instead, in one run: the command {@code run}. */
@NullMarked
package dev.tollgate.bench.compare;

import org.jspecify.annotations.NullMarked;
