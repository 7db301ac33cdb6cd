/**
 * The laws of the law book and the client's contract, on the engines of the local cloud in place of
 * core's ports in memory. May import {@code core}, {@code aws}, {@code client}, {@code lawbook} and
 * {@code local}.
 */
@NullMarked
package dev.tollgate.e2e.engines;

import org.jspecify.annotations.NullMarked;
