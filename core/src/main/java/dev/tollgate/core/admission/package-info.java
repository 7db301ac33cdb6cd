/**
 * Who is let in: the decision from what was read, the registering of a connection and its
 * departure.
 */
@NullMarked
package dev.tollgate.core.admission;

import org.jspecify.annotations.NullMarked;
