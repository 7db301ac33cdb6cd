/**
 * Text on a terminal: tables, progress and confirmation. Imports {@code http} only for its {@code
 * Failure}.
 */
@NullMarked
package dev.tollgate.cli.terminal;

import org.jspecify.annotations.NullMarked;
