@NullMarked
package dev.tollgate.bench.siege;

import org.jspecify.annotations.NullMarked;
