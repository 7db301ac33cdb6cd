/**
 * One adapter per limiter. Each states the terms that the limiter's documentation promises, and
 * quotes it.
 */
@NullMarked
package dev.tollgate.league.adapters;

import org.jspecify.annotations.NullMarked;
