/**
 * Acceptance tests: they need nothing but a deployment's outputs, so they can run against the local
 * cloud and against AWS. Nothing here imports {@code dev.tollgate.local}.
 */
@NullMarked
package dev.tollgate.e2e.acceptance;

import org.jspecify.annotations.NullMarked;
