@NullMarked
package dev.tollgate.bench.line;

import org.jspecify.annotations.NullMarked;
