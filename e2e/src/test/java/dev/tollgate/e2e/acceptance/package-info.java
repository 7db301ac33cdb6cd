/**
 * Acceptance tests, which need only a deployment's outputs: they run against the local cloud and
 * against AWS. Nothing here imports {@code dev.tollgate.local}.
 */
@NullMarked
package dev.tollgate.e2e.acceptance;

import org.jspecify.annotations.NullMarked;
