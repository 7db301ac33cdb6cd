/**
 * The functions of a socket's life: the connect authorizer, {@code $connect} and {@code
 * $disconnect}. Import core and the parent package here.
 */
@NullMarked
package dev.tollgate.handlers.connect;

import org.jspecify.annotations.NullMarked;
