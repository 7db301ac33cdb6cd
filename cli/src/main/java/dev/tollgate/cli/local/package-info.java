/** Starts a local cloud. The only package that may import module {@code local}. */
@NullMarked
package dev.tollgate.cli.local;

import org.jspecify.annotations.NullMarked;
