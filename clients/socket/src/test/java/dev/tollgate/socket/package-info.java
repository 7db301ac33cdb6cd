/** Tests. */
@NullMarked
package dev.tollgate.socket;

import org.jspecify.annotations.NullMarked;
