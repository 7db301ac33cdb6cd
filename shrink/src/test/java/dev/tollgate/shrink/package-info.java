@NullMarked
package dev.tollgate.shrink;

import org.jspecify.annotations.NullMarked;
