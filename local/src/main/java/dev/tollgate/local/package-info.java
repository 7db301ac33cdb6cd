/**
 * Runs a synthesized CDK template in one JVM. {@link dev.tollgate.local.LocalCloud} is the entry
 * point; it composes the services of all other packages, which may not import this one.
 */
@NullMarked
package dev.tollgate.local;

import org.jspecify.annotations.NullMarked;
