package dev.tollgate.aws.sqs;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.aws.ScriptedAdapters;
import dev.tollgate.aws.ScriptedAws.Answer;
import dev.tollgate.core.provisioning.QueueCreation;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The requests for the queues of buckets, and responses that the engine cannot be made to give. */
class SqsBucketQueuesResponsesTest extends ScriptedAdapters {
  @Test
  void a_queue_has_the_name_of_its_bucket_encryption_and_the_requested_retention() {
    services.on("GetQueueAttributes", request -> noQueue());
    services.on("CreateQueue", request -> anyQueue());

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.CREATED);

    assertThat(services.requests("CreateQueue").get(0).body())
        .contains(
            "\"QueueName\":\"blue_connect_%s_token_bucket\"".formatted(tenant),
            "\"SqsManagedSseEnabled\":\"true\"",
            "\"MessageRetentionPeriod\":\"1209600\"",
            "\"tags\":{\"tollgate-deployment\":\"Tollgate-blue\"}");
    assertThat(services.requests("TagQueue")).isEmpty();
  }

  @Test
  void a_queue_with_other_attributes_is_updated() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueNameExists"));

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.EXISTED);

    assertThat(services.requests("SetQueueAttributes"))
        .singleElement()
        .satisfies(request -> assertThat(request.body()).contains("1209600"));
    assertThat(services.requests("TagQueue"))
        .singleElement()
        .satisfies(request -> assertThat(request.body()).contains("Tollgate-blue"));
  }

  @Test
  void a_queue_deleted_just_now_cannot_be_created_although_it_still_responds() {
    services.on("CreateQueue", request -> Answer.failure(400, "QueueDeletedRecently"));

    assertThat(aws.bucketQueues().ensure(bucket, Duration.ofDays(14)))
        .isEqualTo(QueueCreation.RECENTLY_DELETED);
  }
}
