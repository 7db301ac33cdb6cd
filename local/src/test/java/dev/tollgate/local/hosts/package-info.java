/** Tests of {@code dev.tollgate.local.hosts}. */
@NullMarked
package dev.tollgate.local.hosts;

import org.jspecify.annotations.NullMarked;
