@NullMarked
package dev.tollgate.bench.contenders;

import org.jspecify.annotations.NullMarked;
