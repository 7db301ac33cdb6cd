/**
 * Creates the adapters from environment variables or from SDK clients. Other modules import only
 * this package. May import core and every other package of this module.
 */
@NullMarked
package dev.tollgate.aws.config;

import org.jspecify.annotations.NullMarked;
