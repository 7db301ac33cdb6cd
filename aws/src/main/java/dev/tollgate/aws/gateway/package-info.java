/** Sockets over the API Gateway management API. */
@NullMarked
package dev.tollgate.aws.gateway;

import org.jspecify.annotations.NullMarked;
