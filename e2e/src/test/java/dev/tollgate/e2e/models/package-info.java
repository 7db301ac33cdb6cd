/**
 * Validates the requests that end-to-end tests make of AWS APIs, and the local cloud's answers,
 * against AWS's own service models. May import {@code dev.tollgate.local.endpoint}.
 */
@NullMarked
package dev.tollgate.e2e.models;

import org.jspecify.annotations.NullMarked;
