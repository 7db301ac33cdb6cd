/** Compares a file of tiers and tenants with a deployment and applies the differences. */
@NullMarked
package dev.tollgate.cli.apply;

import org.jspecify.annotations.NullMarked;
