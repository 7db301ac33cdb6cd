/** Sessions: their life, their sockets, and how fast they may be used. */
@NullMarked
package dev.tollgate.core.session;

import org.jspecify.annotations.NullMarked;
