/**
 * End-to-end tests that need the local cloud: its clock, its faults, its record of requests, the
 * policies of its roles. May import {@code dev.tollgate.local}.
 */
@NullMarked
package dev.tollgate.e2e.local;

import org.jspecify.annotations.NullMarked;
