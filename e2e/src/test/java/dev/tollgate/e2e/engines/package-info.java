/**
 * The law book and the contract of the client, checked on the engines of the local cloud instead of
 * in-memory ports. May import {@code core}, {@code aws}, {@code client}, {@code lawbook} and {@code
 * local}.
 */
@NullMarked
package dev.tollgate.e2e.engines;

import org.jspecify.annotations.NullMarked;
