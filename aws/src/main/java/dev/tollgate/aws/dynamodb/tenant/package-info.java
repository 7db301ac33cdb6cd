/** The Tenant and Tier tables. May import core, aws and aws.dynamodb. */
@NullMarked
package dev.tollgate.aws.dynamodb.tenant;

import org.jspecify.annotations.NullMarked;
