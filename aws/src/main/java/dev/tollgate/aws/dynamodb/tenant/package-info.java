/** The Tenant and Tier tables. May import aws.dynamodb. */
@NullMarked
package dev.tollgate.aws.dynamodb.tenant;

import org.jspecify.annotations.NullMarked;
