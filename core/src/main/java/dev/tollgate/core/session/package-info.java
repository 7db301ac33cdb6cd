/**
 * Sessions, their connections and sockets: created, renewed, joined, ended. May import core and
 * tenant.
 */
@NullMarked
package dev.tollgate.core.session;

import org.jspecify.annotations.NullMarked;
