/**
 * The shared parts of the session, socket and message functions: their wiring over AWS and their
 * metrics. May import core and aws.config, no other package of this module.
 */
@NullMarked
package dev.tollgate.handlers;

import org.jspecify.annotations.NullMarked;
