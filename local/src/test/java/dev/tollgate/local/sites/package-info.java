/** Tests of {@code dev.tollgate.local.sites}. */
@NullMarked
package dev.tollgate.local.sites;

import org.jspecify.annotations.NullMarked;
