@NullMarked
package dev.tollgate.bench.attacks;

import org.jspecify.annotations.NullMarked;
