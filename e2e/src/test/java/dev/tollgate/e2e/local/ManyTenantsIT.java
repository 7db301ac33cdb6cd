package dev.tollgate.e2e.local;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.local.endpoint.RecordedRequests.Request;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.PutRequest;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/** More live tenants than one invocation of the housekeeper visits. */
@Tag("nightly")
final class ManyTenantsIT {
  /** A full chunk of 500, and a second, for which the housekeeper invokes itself. */
  private static final int TENANTS = 501;

  private static final String TABLE = "TablesLimit";
  private static final int BATCH = 25;
  private static final Duration MINUTE = Duration.ofMinutes(1);

  /** The tenants have no session, so a visit removes each from the live tenants. */
  @Test
  void each_live_tenant_is_visited_within_a_minute_by_chunks_of_the_housekeeper() throws Exception {
    try (LocalDeployment deployment = LocalDeployment.own();
        DynamoDbClient rows = deployment.inspect(DynamoDbClient.builder())) {
      List<String> ids =
          IntStream.range(0, TENANTS).mapToObj(i -> "many-%04d".formatted(i)).toList();
      for (int i = 0; i < TENANTS; i += BATCH) {
        List<WriteRequest> batch =
            ids.subList(i, Math.min(TENANTS, i + BATCH)).stream().map(ManyTenantsIT::live).toList();
        rows.batchWriteItem(write -> write.requestItems(Map.of(TABLE, batch)));
      }
      assertThat(live(rows)).containsAll(ids);

      List<Request> requests = deployment.requestsOf(() -> deployment.advance(MINUTE));

      assertThat(requests)
          .filteredOn(request -> request.principal().name().equals("HousekeeperAllTenants"))
          .filteredOn(request -> request.operation().equals("Invoke"))
          .hasSize(1);
      assertThat(live(rows)).isEmpty();
    }
  }

  private static WriteRequest live(String tenant) {
    return WriteRequest.builder()
        .putRequest(
            PutRequest.builder()
                .item(
                    Map.of(
                        "tenantId", AttributeValue.fromS(tenant),
                        "key", AttributeValue.fromS("sessions"),
                        "arrival", AttributeValue.fromN("0"),
                        "live", AttributeValue.fromS("y")))
                .build())
        .build();
  }

  private static Set<String> live(DynamoDbClient rows) {
    Set<String> tenants = new HashSet<>();
    rows.queryPaginator(
            query ->
                query
                    .tableName(TABLE)
                    .indexName("live")
                    .keyConditionExpression("live = :live")
                    .expressionAttributeValues(Map.of(":live", AttributeValue.fromS("y"))))
        .items()
        .forEach(row -> tenants.add(row.getOrDefault("tenantId", AttributeValue.fromS("")).s()));
    return tenants;
  }
}
