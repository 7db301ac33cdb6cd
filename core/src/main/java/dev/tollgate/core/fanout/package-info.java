/** Splits periodic work on many tenants among several invocations of a function. */
@NullMarked
package dev.tollgate.core.fanout;

import org.jspecify.annotations.NullMarked;
