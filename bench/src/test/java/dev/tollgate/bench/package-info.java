@NullMarked
package dev.tollgate.bench;

import org.jspecify.annotations.NullMarked;
