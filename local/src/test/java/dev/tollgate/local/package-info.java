@NullMarked
package dev.tollgate.local;

import org.jspecify.annotations.NullMarked;
