/** The JUnit extension, used as another project would use it. */
@NullMarked
package dev.tollgate.local.testing;

import org.jspecify.annotations.NullMarked;
