/**
 * Compares a file of tiers and tenants with a deployment and applies the differences. Imports
 * {@code http}, {@code pacing} and {@code terminal} only.
 */
@NullMarked
package dev.tollgate.cli.apply;

import org.jspecify.annotations.NullMarked;
