package dev.tollgate.aws;

import static dev.tollgate.aws.Asking.ask;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.message.MessageLog;
import dev.tollgate.core.message.MessageName;
import java.time.Instant;
import java.util.Map;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** The log of messages in the Limit table: a row for each, which DynamoDB deletes in time. */
final class DynamoDbMessageLog implements MessageLog {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final TenantCredentials credentials;

  DynamoDbMessageLog(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.credentials = credentials;
  }

  @Override
  public void add(TenantId tenant, MessageName message, Instant until) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    ask(
        "DynamoDB UpdateItem of the log of messages of " + tenant,
        () ->
            dynamoDb.updateItem(
                request ->
                    request
                        .overrideConfiguration(as)
                        .tableName(table)
                        .key(LimitRow.key(tenant, message))
                        .updateExpression("SET #until = :until")
                        .expressionAttributeNames(Map.of("#until", LimitRow.EXPIRES_AT))
                        .expressionAttributeValues(
                            Map.of(":until", Attribute.number(until.getEpochSecond())))));
  }
}
