/** Names threads. Imports nothing else of this module. */
@NullMarked
package dev.tollgate.local.threads;

import org.jspecify.annotations.NullMarked;
