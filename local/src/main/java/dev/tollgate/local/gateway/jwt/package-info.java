/**
 * The JWT authorizers of HTTP APIs and the keys of token issuers. Imports {@code gateway} and
 * {@code json} only.
 */
@NullMarked
package dev.tollgate.local.gateway.jwt;

import org.jspecify.annotations.NullMarked;
