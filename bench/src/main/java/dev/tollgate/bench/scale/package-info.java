/**
 * Simulates an hour of many tenants: the project's own use cases run over ports that have AWS's
 * quotas, latencies and prices, on a clock that jumps from event to event.
 */
package dev.tollgate.bench.scale;
