/**
 * Creates the adapters from environment variables or from SDK clients: the only package of this
 * module that other modules import. May import every other package here.
 */
@NullMarked
package dev.tollgate.aws.config;

import org.jspecify.annotations.NullMarked;
