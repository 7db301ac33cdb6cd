/**
 * The HTTP API by which clients create, renew, read and end sessions. May import core, http and
 * handlers.
 */
@NullMarked
package dev.tollgate.handlers.session;

import org.jspecify.annotations.NullMarked;
