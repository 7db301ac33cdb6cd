package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.BatchWrite;
import dev.tollgate.core.Pause;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import java.time.Instant;
import java.util.Set;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/**
 * The log of processed messages: one row of the Limit table for each, which DynamoDB deletes when
 * it expires.
 */
public final class DynamoDbMessageLog implements MessageLog {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final TenantCredentials credentials;

  /** The log in this table. */
  public DynamoDbMessageLog(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.credentials = credentials;
  }

  /** Sends rows that DynamoDB leaves unprocessed once more. */
  @Override
  public void add(TenantId tenant, Set<MessageName> messages, Instant until) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    BatchWrite.write(
        dynamoDb,
        "the message log of " + tenant,
        table,
        messages.stream().map(message -> LimitRow.write(tenant, message, until)).toList(),
        2,
        Pause.real(),
        request -> request.overrideConfiguration(as));
  }
}
