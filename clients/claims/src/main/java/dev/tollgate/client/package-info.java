/**
 * The public API for applications that claim tokens from tenants' buckets. Start with {@link
 * dev.tollgate.client.TollgateClient}; tests use {@link dev.tollgate.client.InMemoryTollgate}.
 * {@link dev.tollgate.client.PushClient} pushes messages to clients. May import core and
 * aws.config.
 */
@NullMarked
package dev.tollgate.client;

import org.jspecify.annotations.NullMarked;
