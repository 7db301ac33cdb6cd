@NullMarked
package dev.tollgate.bench.compare;

import org.jspecify.annotations.NullMarked;
