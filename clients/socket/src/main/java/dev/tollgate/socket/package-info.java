/**
 * A WebSocket on a tenant's session. Start with {@link dev.tollgate.socket.TollgateSocket}. It
 * follows {@code docs/client-protocol.md}.
 */
@NullMarked
package dev.tollgate.socket;

import org.jspecify.annotations.NullMarked;
