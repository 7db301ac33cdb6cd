/**
 * Requests fills from the token producer, and deploys silo functions. May import core, aws and
 * aws.credentials.
 */
@NullMarked
package dev.tollgate.aws.lambda;

import org.jspecify.annotations.NullMarked;
