/**
 * Ports that fail at random, and the tokens that each fault explains. May import core and lawbook.
 */
@NullMarked
package dev.tollgate.core.testing.fault;

import org.jspecify.annotations.NullMarked;
