package dev.tollgate.core.testing.memory;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.TokenQueue.Search;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.TokenQueueContract;
import java.time.Duration;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;

class InMemoryTokenQueueTest extends TokenQueueContract {
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final InMemoryTokenQueue queue = new InMemoryTokenQueue(clock);

  @Override
  protected TokenQueue queue() {
    return queue;
  }

  @Override
  protected InstantSource clock() {
    return clock;
  }

  @Override
  protected void advance(Duration by) {
    clock.advance(by);
  }

  @Override
  protected BucketId bucket() {
    BucketId bucket = Samples.bucketId();
    queue.createQueue(bucket);
    return bucket;
  }

  @Override
  protected BucketId bucketWithoutQueue() {
    return Samples.bucketId();
  }

  @Test
  void outage_stops_the_methods_that_it_names() {
    BucketId bucket = bucket();
    queue.outage().begin("countTokens");

    assertThatThrownBy(() -> queue.level(bucket)).isInstanceOf(Unavailable.class);
    queue.reserve(bucket, 1, Duration.ofSeconds(1), Search.LONG);
    queue.outage().begin();
    assertThatThrownBy(() -> queue.reserve(bucket, 1, Duration.ofSeconds(1), Search.LONG))
        .isInstanceOf(Unavailable.class);
    queue.outage().end();
    queue.level(bucket);
  }
}
