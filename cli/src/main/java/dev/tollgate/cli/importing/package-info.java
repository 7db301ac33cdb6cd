/**
 * Imports tenants from CSV files. Imports {@code apply}, {@code http}, {@code pacing} and {@code
 * terminal} only.
 */
@NullMarked
package dev.tollgate.cli.importing;

import org.jspecify.annotations.NullMarked;
