/**
 * What the session, socket and message functions share: their wiring over AWS and their metrics.
 * Import core and aws here, no package below.
 */
@NullMarked
package dev.tollgate.handlers;

import org.jspecify.annotations.NullMarked;
