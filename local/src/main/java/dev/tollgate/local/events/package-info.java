/**
 * Event source mappings: readers invoke functions with the records of queues and streams. May
 * import {@code lambda}, {@code rest} and the packages of the AWS endpoint.
 */
@NullMarked
package dev.tollgate.local.events;

import org.jspecify.annotations.NullMarked;
