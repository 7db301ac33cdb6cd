@NullMarked
package dev.tollgate.bench.crowd;

import org.jspecify.annotations.NullMarked;
