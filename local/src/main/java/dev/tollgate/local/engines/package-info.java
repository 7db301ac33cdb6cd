/**
 * The embedded engines behind the endpoint: DynamoDB Local for tables, ElasticMQ for queues. Only
 * the composition of a cloud imports it.
 */
@NullMarked
package dev.tollgate.local.engines;

import org.jspecify.annotations.NullMarked;
