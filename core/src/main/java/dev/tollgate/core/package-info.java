/** The rules of admission. */
@NullMarked
package dev.tollgate.core;

import org.jspecify.annotations.NullMarked;
