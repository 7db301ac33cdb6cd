package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.provisioning.Silo;
import dev.tollgate.core.provisioning.Silos;
import dev.tollgate.core.tenant.Release;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SilosContract;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@ExtendWith(Engines.class)
class DynamoDbSilosTest extends SilosContract {
  private final DynamoDbClient dynamoDb;
  private final String table;
  private final Silos silos;

  DynamoDbSilosTest(Engines.Tables tables) {
    dynamoDb = tables.client();
    table = tables.limit();
    silos = new DynamoDbSilos(dynamoDb, table, Engines.ANYBODY);
  }

  @Override
  protected Silos silos() {
    return silos;
  }

  @Test
  void a_row_that_a_program_that_claims_tokens_created_is_no_silo() {
    TenantId tenant = Samples.tenantId();
    dynamoDb.updateItem(
        request ->
            request
                .tableName(table)
                .key(LimitRow.key(tenant, LimitRow.SILO))
                .updateExpression("SET #line = :line")
                .expressionAttributeNames(Map.of("#line", LimitRow.LINE))
                .expressionAttributeValues(Map.of(":line", AttributeValue.fromS("x"))));
    Silo silo = Silo.opened(tenant, new Release("processor:1"), Samples.NOW);

    assertThat(silos.find(tenant)).isEmpty();
    assertThat(silos.open(silo)).isEqualTo(WriteResult.DONE);
    assertThat(silos.find(tenant)).contains(silo);
  }
}
