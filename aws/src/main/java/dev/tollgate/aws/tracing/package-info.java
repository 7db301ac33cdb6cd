/** Traces of AWS X-Ray, sent to the daemon that Lambda runs beside each function. */
@NullMarked
package dev.tollgate.aws.tracing;

import org.jspecify.annotations.NullMarked;
