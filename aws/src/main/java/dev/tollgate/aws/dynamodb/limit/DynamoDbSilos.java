package dev.tollgate.aws.dynamodb.limit;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Row;
import dev.tollgate.aws.dynamodb.VersionCondition;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silos;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.awscore.AwsRequestOverrideConfiguration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Silos in the Limit table. */
public final class DynamoDbSilos implements Silos {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final TenantCredentials credentials;

  /** Silos in this table. */
  public DynamoDbSilos(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.dynamoDb = dynamoDb;
    this.table = table;
    this.credentials = credentials;
  }

  @Override
  public Optional<Silo> find(TenantId tenant) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    Map<String, AttributeValue> item =
        ask(
            "DynamoDB GetItem of the silo of " + tenant,
            () ->
                dynamoDb
                    .getItem(
                        request ->
                            request
                                .overrideConfiguration(as)
                                .tableName(table)
                                .key(LimitRow.key(tenant, LimitRow.SILO))
                                .consistentRead(true))
                    .item());
    // Programs that claim tokens may create a row of any key of their tenant, without a version.
    return Optional.of(new Row(item)).filter(row -> row.has(LimitRow.VERSION)).map(LimitRow::silo);
  }

  @Override
  public WriteResult open(Silo silo) {
    AwsRequestOverrideConfiguration as = credentials.as(silo.tenant());
    return write(
        "DynamoDB PutItem of the silo of " + silo.tenant(),
        () ->
            dynamoDb.putItem(
                request ->
                    request
                        .overrideConfiguration(as)
                        .tableName(table)
                        .item(LimitRow.write(silo))
                        .conditionExpression("attribute_not_exists(#version)")
                        .expressionAttributeNames(Map.of("#version", LimitRow.VERSION))));
  }

  @Override
  public WriteResult replace(Silo next) {
    AwsRequestOverrideConfiguration as = credentials.as(next.tenant());
    return write(
        "DynamoDB PutItem of the silo of " + next.tenant(),
        () ->
            dynamoDb.putItem(
                request ->
                    VersionCondition.replacing(request, next.version())
                        .overrideConfiguration(as)
                        .tableName(table)
                        .item(LimitRow.write(next))));
  }

  @Override
  public WriteResult remove(TenantId tenant, long version) {
    AwsRequestOverrideConfiguration as = credentials.as(tenant);
    return write(
        "DynamoDB DeleteItem of the silo of " + tenant,
        () ->
            dynamoDb.deleteItem(
                request ->
                    VersionCondition.deleting(request, LimitRow.TENANT, version)
                        .overrideConfiguration(as)
                        .tableName(table)
                        .key(LimitRow.key(tenant, LimitRow.SILO))));
  }
}
