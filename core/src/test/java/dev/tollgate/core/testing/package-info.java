/** Tools for tests of all modules: clocks, races, faults and sample values. */
@NullMarked
package dev.tollgate.core.testing;

import org.jspecify.annotations.NullMarked;
