/** Tests. */
@NullMarked
package dev.tollgate.client;

import org.jspecify.annotations.NullMarked;
