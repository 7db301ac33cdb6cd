/** Tollgate's stack on AWS, as a CDK construct and as a CDK app. May import no other module. */
@NullMarked
package dev.tollgate.infra;

import org.jspecify.annotations.NullMarked;
