package dev.tollgate.aws.sqs;

import dev.tollgate.aws.Engines;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.testing.contract.BucketQueuesContract;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.ExtendWith;
import software.amazon.awssdk.services.sqs.SqsClient;

@ExtendWith(Engines.class)
class SqsBucketQueuesTest extends BucketQueuesContract {
  private final Engines.Queues engine;
  private final SqsClient sqs;

  SqsBucketQueuesTest(Engines.Queues engine) {
    this.engine = engine;
    this.sqs = engine.client();
  }

  @AfterEach
  void stop() {
    sqs.close();
  }

  @Override
  protected BucketQueues queues() {
    return new SqsBucketQueues(sqs, engine.urls(), Engines.ANYBODY, () -> "test");
  }

  @Override
  protected void createForeignQueue(BucketId id) {
    sqs.createQueue(
        request ->
            request
                .queueName(engine.urls().names().queue(id))
                .tags(Map.of("tollgate-deployment", "another")));
  }

  @Override
  protected TokenQueue tokens() {
    return new SqsTokenQueue(sqs, sqs, engine.urls(), Engines.ANYBODY, Runnable::run, engine);
  }
}
