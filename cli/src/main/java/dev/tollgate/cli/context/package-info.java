/**
 * Named deployments: which one a command addresses. Imports {@code http} only for its JSON and
 * {@code Failure}.
 */
@NullMarked
package dev.tollgate.cli.context;

import org.jspecify.annotations.NullMarked;
