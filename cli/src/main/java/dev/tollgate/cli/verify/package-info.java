/**
 * Checks that a deployment keeps the promises of the documentation, over its outputs alone. Imports
 * {@code http} and {@code terminal} of this module.
 */
@NullMarked
package dev.tollgate.cli.verify;

import org.jspecify.annotations.NullMarked;
