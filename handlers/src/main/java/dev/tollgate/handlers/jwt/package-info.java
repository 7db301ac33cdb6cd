/**
 * Verifies JSON Web Tokens against the keys that their issuer publishes. May import core, no other
 * package of this module.
 */
@NullMarked
package dev.tollgate.handlers.jwt;

import org.jspecify.annotations.NullMarked;
