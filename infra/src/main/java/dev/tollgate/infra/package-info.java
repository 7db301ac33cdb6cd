/** Tollgate's stack on AWS, as a CDK construct and as an app of its own. */
@NullMarked
package dev.tollgate.infra;

import org.jspecify.annotations.NullMarked;
