package dev.tollgate.aws.dynamodb.limit;

import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.Table;
import dev.tollgate.aws.dynamodb.VersionCondition;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silos;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

/** Silos in the Limit table. */
public final class DynamoDbSilos implements Silos {
  private final Table table;
  private final TenantCredentials credentials;

  /** Silos in this table. */
  public DynamoDbSilos(DynamoDbClient dynamoDb, String table, TenantCredentials credentials) {
    this.table = new Table(dynamoDb, table);
    this.credentials = credentials;
  }

  @Override
  public Optional<Silo> find(TenantId tenant) {
    // Programs that claim tokens may create a row of any key of their tenant, without a version.
    return table
        .get(
            "the silo of " + tenant,
            request ->
                request
                    .overrideConfiguration(credentials.as(tenant))
                    .key(LimitRow.key(tenant, LimitRow.SILO)))
        .filter(row -> row.has(LimitRow.VERSION))
        .map(LimitRow::silo);
  }

  @Override
  public WriteResult open(Silo silo) {
    return table.put(
        "the silo of " + silo.tenant(),
        request ->
            request
                .overrideConfiguration(credentials.as(silo.tenant()))
                .item(LimitRow.write(silo))
                .conditionExpression("attribute_not_exists(#version)")
                .expressionAttributeNames(Map.of("#version", LimitRow.VERSION)));
  }

  @Override
  public WriteResult replace(Silo next) {
    return table.put(
        "the silo of " + next.tenant(),
        request ->
            VersionCondition.replacing(request, next.version())
                .overrideConfiguration(credentials.as(next.tenant()))
                .item(LimitRow.write(next)));
  }

  @Override
  public WriteResult remove(TenantId tenant, long version) {
    return table.delete(
        "the silo of " + tenant,
        request ->
            VersionCondition.deleting(request, LimitRow.TENANT, version)
                .overrideConfiguration(credentials.as(tenant))
                .key(LimitRow.key(tenant, LimitRow.SILO)));
  }
}
