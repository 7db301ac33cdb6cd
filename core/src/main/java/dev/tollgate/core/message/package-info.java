/**
 * Messages: what an application does with them, how they are paid for, and the frames that come of
 * them.
 */
@NullMarked
package dev.tollgate.core.message;

import org.jspecify.annotations.NullMarked;
