/**
 * Runs a synthesized CDK template in one JVM. {@link dev.tollgate.local.LocalCloud} is the entry
 * point; it composes the services of the other packages. Only {@code testing} imports this package.
 */
@NullMarked
package dev.tollgate.local;

import org.jspecify.annotations.NullMarked;
