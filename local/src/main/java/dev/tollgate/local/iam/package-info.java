/**
 * Who may do what: policies as IAM evaluates them, and which permissions each request needs.
 *
 * <p>A request is first put as accesses, each an action on a resource ({@link
 * dev.tollgate.local.iam.Accesses}); each of them must be allowed by a policy of the caller's role
 * and denied by none ({@link dev.tollgate.local.iam.Policies}).
 */
@NullMarked
package dev.tollgate.local.iam;

import org.jspecify.annotations.NullMarked;
