/**
 * Builds the adapters from environment variables or from SDK clients; the only package that other
 * modules import.
 */
@NullMarked
package dev.tollgate.aws.config;

import org.jspecify.annotations.NullMarked;
