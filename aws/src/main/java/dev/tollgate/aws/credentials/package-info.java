/**
 * Credentials that are restricted to one tenant's rows, queues and functions. May import core and
 * aws.
 */
@NullMarked
package dev.tollgate.aws.credentials;

import org.jspecify.annotations.NullMarked;
