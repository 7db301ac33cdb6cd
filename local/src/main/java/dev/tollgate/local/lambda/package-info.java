/** Functions hosted in this process as AWS Lambda would host them. */
@NullMarked
package dev.tollgate.local.lambda;

import org.jspecify.annotations.NullMarked;
