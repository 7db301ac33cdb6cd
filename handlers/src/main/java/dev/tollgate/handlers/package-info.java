/**
 * The shared parts of the functions: their wiring over AWS, their metrics, and the rows of streams.
 * May import core and aws.config, no other package of this module.
 */
@NullMarked
package dev.tollgate.handlers;

import org.jspecify.annotations.NullMarked;
