/** Functions that are invoked or deployed: the token producer and silo functions. */
@NullMarked
package dev.tollgate.aws.lambda;

import org.jspecify.annotations.NullMarked;
