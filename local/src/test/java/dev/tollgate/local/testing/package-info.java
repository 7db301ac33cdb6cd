/**
 * The JUnit extension, used as another project would use it, and what tests of this repository need
 * around a local cloud.
 */
@NullMarked
package dev.tollgate.local.testing;

import org.jspecify.annotations.NullMarked;
