/**
 * Hosts functions in this process as AWS Lambda does. May import {@code rest} and the packages of
 * the AWS endpoint.
 */
@NullMarked
package dev.tollgate.local.lambda;

import org.jspecify.annotations.NullMarked;
