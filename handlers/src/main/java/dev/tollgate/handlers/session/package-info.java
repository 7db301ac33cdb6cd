/**
 * The HTTP API by which clients create, renew, read and end sessions. Import core, http and the
 * parent package here.
 */
@NullMarked
package dev.tollgate.handlers.session;

import org.jspecify.annotations.NullMarked;
