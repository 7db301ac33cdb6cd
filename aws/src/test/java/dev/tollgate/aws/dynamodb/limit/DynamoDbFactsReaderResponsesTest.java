package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.testing.Samples;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** How the reader of admission facts handles responses that the engine cannot be made to give. */
class DynamoDbFactsReaderResponsesTest extends ScriptedAdapters {
  @Test
  void unprocessed_facts_are_requested_once_more() {
    AtomicInteger count = new AtomicInteger();
    services.on(
        "BatchGetItem",
        request ->
            Answer.ok(
                count.getAndIncrement() == 0
                    ? """
                      {"Responses":{"LimitTable":[
                        {"tenantId":{"S":"t"},"key":{"S":"connections"},"itemCount":{"N":"4"}}]},
                       "UnprocessedKeys":{"TenantTable":{"Keys":[{"tenantId":{"S":"t"}}]}}}"""
                    : """
                      {"Responses":{},"UnprocessedKeys":{}}"""));

    assertThat(aws.factsReader().read(tenant, Samples.sessionId()).connections()).isEqualTo(4);

    assertThat(services.requests("BatchGetItem")).hasSize(2);
    assertThat(services.requests("BatchGetItem").get(0).body())
        .contains("\"ConsistentRead\":true", "TenantTable", "SessionTable", "bucket:connect");
    assertThat(services.requests("BatchGetItem").get(1).body()).doesNotContain("SessionTable");
  }

  @Test
  void facts_that_are_unprocessed_twice_are_unavailable() {
    services.on(
        "BatchGetItem",
        request ->
            Answer.ok(
                """
                {"UnprocessedKeys":{"TenantTable":{"Keys":[{"tenantId":{"S":"t"}}]}}}"""));

    assertThatThrownBy(() -> aws.factsReader().read(tenant, Samples.sessionId()))
        .isInstanceOf(Unavailable.class);

    assertThat(services.requests("BatchGetItem")).hasSize(2);
  }
}
