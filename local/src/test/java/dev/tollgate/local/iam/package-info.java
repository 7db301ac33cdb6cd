/** Tests of {@code dev.tollgate.local.iam}. */
@NullMarked
package dev.tollgate.local.iam;

import org.jspecify.annotations.NullMarked;
