/**
 * Evaluates policies as IAM does. May import {@code endpoint}, {@code json} and {@code template}.
 *
 * <p>{@link dev.tollgate.local.iam.access.Accesses} turns a request into accesses, each an action
 * on a resource. {@link dev.tollgate.local.iam.Policies} decides on each of them: a policy of the
 * caller's role must allow it and no policy may deny it.
 */
@NullMarked
package dev.tollgate.local.iam;

import org.jspecify.annotations.NullMarked;
