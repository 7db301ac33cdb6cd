package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.TenantId;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The pages of the index of live tenants. */
class DynamoDbLiveTenantsResponsesTest extends ScriptedAdapters {
  @Test
  void live_tenants_are_listed_in_pages_with_the_functions_own_credentials() {
    services.on(
        "Query",
        request ->
            Answer.ok(
                request.body().contains("ExclusiveStartKey")
                    ? """
                      {"Items":[{"tenantId":{"S":"b"},"key":{"S":"sessions"}}]}"""
                    : """
                      {"Items":[{"tenantId":{"S":"a"},"key":{"S":"sessions"}}],
                       "LastEvaluatedKey":{"live":{"S":"y"},"tenantId":{"S":"a"},
                                           "key":{"S":"sessions"}}}"""));

    assertThat(aws.liveTenants().list(Optional.empty(), 3))
        .containsExactly(new TenantId("a"), new TenantId("b"));
    assertThat(services.requests("Query")).hasSize(2);
    assertThat(aws.liveTenants().list(Optional.of(new TenantId("0")), 1))
        .containsExactly(new TenantId("a"));

    assertThat(services.requests("Query"))
        .hasSize(3)
        .allSatisfy(
            request -> {
              assertThat(request.accessKey()).isEqualTo("own");
              assertThat(request.body()).contains("\"IndexName\":\"live\"", "LimitTable");
            });
  }
}
