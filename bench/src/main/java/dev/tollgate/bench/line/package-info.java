/**
 * The command {@code line}: lets many clients wait for few tokens, with and without a line, prints
 * a table, and draws a figure. The scenarios know nothing but a gate and an agenda, so tests run
 * them with a scripted gate and a moved clock.
 */
@NullMarked
package dev.tollgate.bench.line;

import org.jspecify.annotations.NullMarked;
