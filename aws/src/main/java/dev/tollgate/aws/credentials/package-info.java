/** Credentials that reach one tenant's rows, queues and functions. */
@NullMarked
package dev.tollgate.aws.credentials;

import org.jspecify.annotations.NullMarked;
