/**
 * Tollgate behind the interfaces of the law book. May import core, lawbook and the other testing
 * packages.
 */
@NullMarked
package dev.tollgate.core.testing.limiter;

import org.jspecify.annotations.NullMarked;
