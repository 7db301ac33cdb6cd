package dev.tollgate.core.testing.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.BucketQueuesContract;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class InMemoryBucketQueuesTest extends BucketQueuesContract {
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final InMemoryTokenQueue tokens = new InMemoryTokenQueue(clock);
  private final InMemoryBucketQueues queues = new InMemoryBucketQueues(tokens, clock);

  @Override
  protected BucketQueues queues() {
    return queues;
  }

  @Override
  protected TokenQueue tokens() {
    return tokens;
  }

  @Override
  protected void createForeignQueue(BucketId id) {
    queues.createForeignQueue(id);
  }

  @Test
  void existing_queue_accepts_another_lifetime() {
    BucketId bucket = Samples.bucketId();
    queues.ensure(bucket, LONG);

    queues.setLifetime(bucket, Duration.ofSeconds(60));
    assertThat(tokens.lifetime(bucket)).isEqualTo(Duration.ofSeconds(60));

    queues.ensure(bucket, Duration.ofSeconds(90));
    assertThat(tokens.lifetime(bucket)).isEqualTo(Duration.ofSeconds(90));
  }

  @Test
  void deleted_queue_cannot_be_created_again_for_a_minute() {
    BucketId bucket = Samples.bucketId();
    queues.ensure(bucket, LONG);
    queues.delete(bucket);

    clock.advance(Duration.ofSeconds(59));
    assertThat(queues.ensure(bucket, LONG)).isEqualTo(QueueCreation.RECENTLY_DELETED);
    clock.advance(Duration.ofSeconds(1));
    assertThat(queues.ensure(bucket, LONG)).isEqualTo(QueueCreation.CREATED);
  }
}
