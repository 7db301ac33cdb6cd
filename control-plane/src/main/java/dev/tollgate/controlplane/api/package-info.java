/**
 * Routes the requests of the control plane's HTTP API, parses them and renders the responses. May
 * import core, http, invocation, tenants, tiers and doctor.
 */
@NullMarked
package dev.tollgate.controlplane.api;

import org.jspecify.annotations.NullMarked;
