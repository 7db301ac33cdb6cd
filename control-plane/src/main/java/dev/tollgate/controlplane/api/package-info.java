/**
 * Routes, parses and renders the HTTP API for tenants and tiers. Import core, http and the packages
 * of the use cases here.
 */
@NullMarked
package dev.tollgate.controlplane.api;

import org.jspecify.annotations.NullMarked;
