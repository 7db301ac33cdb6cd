/** The embedded engines behind the endpoint: DynamoDB Local for tables, ElasticMQ for queues. */
@NullMarked
package dev.tollgate.local.engines;

import org.jspecify.annotations.NullMarked;
