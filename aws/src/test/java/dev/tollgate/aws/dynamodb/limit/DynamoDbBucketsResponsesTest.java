package dev.tollgate.aws.dynamodb.limit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import dev.tollgate.core.bucket.BucketSpec;
import dev.tollgate.core.bucket.Rate;
import dev.tollgate.core.testing.Samples;
import org.junit.jupiter.api.Test;

/** How the ledger handles a write whose response was lost. */
class DynamoDbBucketsResponsesTest extends ScriptedAdapters {
  @Test
  void a_ledger_write_with_a_lost_response_is_done_if_the_row_contains_it() {
    services.on("UpdateItem", request -> Answer.failure(500, "InternalServerError"));
    services.on(
        "GetItem",
        request ->
            Answer.ok(
                "{\"Item\":{\"write\":%s}}"
                    .formatted(
                        json(services.requests("UpdateItem").get(0).body())
                            .at("/ExpressionAttributeValues/:write"))));

    assertThat(
            aws.buckets()
                .replace(
                    Samples.bucket(bucket)
                        .retuned(BucketSpec.ofRate(Rate.perMinute(3)), Samples.NOW)))
        .isEqualTo(WriteResult.DONE);
  }

  @Test
  void a_ledger_write_with_a_lost_response_is_unavailable_if_the_row_does_not_contain_it() {
    services.on("UpdateItem", request -> Answer.failure(500, "InternalServerError"));
    services.on("GetItem", request -> Answer.ok("{\"Item\":{\"write\":{\"S\":\"another\"}}}"));

    assertThatThrownBy(
            () ->
                aws.buckets()
                    .replace(
                        Samples.bucket(bucket)
                            .retuned(BucketSpec.ofRate(Rate.perMinute(3)), Samples.NOW)))
        .isInstanceOf(Unavailable.class);
  }
}
