/**
 * Starts functions as AWS Lambda starts them: each in a JVM of its own, under AWS's runtime
 * interface client. May import {@code lambda} and {@code endpoint}.
 */
@NullMarked
package dev.tollgate.local.lambda.process;

import org.jspecify.annotations.NullMarked;
