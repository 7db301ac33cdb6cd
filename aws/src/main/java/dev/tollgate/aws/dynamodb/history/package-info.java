/** The History table. */
@NullMarked
package dev.tollgate.aws.dynamodb.history;

import org.jspecify.annotations.NullMarked;
