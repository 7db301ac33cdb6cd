/** The function that a schedule invokes to fill one bucket. */
@NullMarked
package dev.tollgate.producer;

import org.jspecify.annotations.NullMarked;
