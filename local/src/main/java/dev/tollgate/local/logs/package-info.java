/** CloudWatch Logs: what functions have logged. */
@NullMarked
package dev.tollgate.local.logs;

import org.jspecify.annotations.NullMarked;
