/**
 * The HTTP endpoint of all AWS APIs: operations, callers, credentials and the record of calls. All
 * services may import it.
 */
@NullMarked
package dev.tollgate.local.endpoint;

import org.jspecify.annotations.NullMarked;
