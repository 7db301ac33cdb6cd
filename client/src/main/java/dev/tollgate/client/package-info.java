/**
 * Claims tokens from tenants' buckets: the public API for applications. {@link
 * dev.tollgate.client.TollgateClient} is where to start; tests use {@link
 * dev.tollgate.client.InMemoryTollgate}.
 */
@NullMarked
package dev.tollgate.client;

import org.jspecify.annotations.NullMarked;
