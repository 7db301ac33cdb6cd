/** Rows and attributes of DynamoDB, and the ports that need no table of Tollgate's domain. */
@NullMarked
package dev.tollgate.aws.dynamodb;

import org.jspecify.annotations.NullMarked;
