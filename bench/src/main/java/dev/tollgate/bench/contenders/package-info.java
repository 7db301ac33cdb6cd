/**
 * The limiters that are compared, what they claim tokens through, and the relay that delays and
 * counts their requests. The only package of this module that uses the AWS SDKs.
 */
@NullMarked
package dev.tollgate.bench.contenders;

import org.jspecify.annotations.NullMarked;
