/** The Tenant table: tenants and tiers. */
@NullMarked
package dev.tollgate.aws.dynamodb.tenant;

import org.jspecify.annotations.NullMarked;
