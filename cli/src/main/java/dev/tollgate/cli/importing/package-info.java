/** Reads tenants from CSV files. */
@NullMarked
package dev.tollgate.cli.importing;

import org.jspecify.annotations.NullMarked;
