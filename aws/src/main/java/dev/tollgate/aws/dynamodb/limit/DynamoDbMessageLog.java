package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

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
    Map<String, List<WriteRequest>> left =
        Map.of(
            table,
            messages.stream()
                .map(message -> LimitRow.write(tenant, message, until))
                .map(row -> WriteRequest.builder().putRequest(put -> put.item(row)).build())
                .toList());
    for (int i = 0; i < 2 && !left.isEmpty(); i++) {
      left = write(tenant, left);
    }
    if (!left.isEmpty()) {
      throw new Unavailable("the message log of " + tenant + ": rows stayed unprocessed");
    }
  }

  private Map<String, List<WriteRequest>> write(
      TenantId tenant, Map<String, List<WriteRequest>> rows) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    return ask(
        "DynamoDB BatchWriteItem of the message log of " + tenant,
        () ->
            dynamoDb
                .batchWriteItem(request -> request.overrideConfiguration(as).requestItems(rows))
                .unprocessedItems());
  }
}
