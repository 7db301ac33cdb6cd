package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.tollgate.core.Page;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Token;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.provisioning.BucketQueues;
import dev.tollgate.core.provisioning.BucketQueues.Owner;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.testing.Samples;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract of {@link BucketQueues}. */
public abstract class BucketQueuesContract {
  /** The default lifetime of tokens in these tests. */
  protected static final Duration LONG = Duration.ofDays(14);

  /** The queues under test. */
  protected abstract BucketQueues queues();

  /** Creates a queue with the name of the bucket's queue, but not through {@link #queues}. */
  protected abstract void createForeignQueue(BucketId id);

  /** The tokens in the queues. */
  protected abstract TokenQueue tokens();

  @Test
  void created_queue_accepts_tokens() {
    BucketId bucket = Samples.bucketId();

    assertThat(queues().ensure(bucket, LONG)).isEqualTo(QueueCreation.CREATED);

    Token token = new Token("token", bucket, Samples.NOW, Samples.NOW);
    assertThat(tokens().put(bucket, List.of(token))).isEmpty();
    assertThat(tokens().level(bucket)).isEqualTo(1);
  }

  @Test
  void create_of_an_existing_queue_keeps_its_tokens() {
    BucketId bucket = Samples.bucketId();
    queues().ensure(bucket, LONG);
    tokens().put(bucket, List.of(new Token("token", bucket, Samples.NOW, Samples.NOW)));

    assertThat(queues().ensure(bucket, LONG)).isEqualTo(QueueCreation.EXISTED);

    assertThat(tokens().level(bucket)).isEqualTo(1);
  }

  @Test
  void set_lifetime_of_a_missing_queue_is_harmless() {
    BucketId bucket = Samples.bucketId();

    queues().setLifetime(bucket, LONG);

    assertThatThrownBy(() -> tokens().level(bucket)).isInstanceOf(Unavailable.class);
  }

  @Test
  void lifetime_is_returned_for_a_queue_and_empty_for_a_missing_one() {
    BucketId bucket = Samples.bucketId();
    assertThat(queues().lifetime(bucket)).isEmpty();

    queues().ensure(bucket, Duration.ofSeconds(90));

    assertThat(queues().lifetime(bucket)).contains(Duration.ofSeconds(90));
  }

  @Test
  void list_returns_each_bucket_queue_once_over_all_pages() {
    List<BucketId> made = Stream.generate(Samples::bucketId).limit(5).toList();
    made.forEach(bucket -> queues().ensure(bucket, LONG));

    List<BucketId> listed = new ArrayList<>();
    Optional<String> cursor = Optional.empty();
    do {
      Page<BucketId> part = queues().list(cursor, 2);
      assertThat(part.items()).hasSizeLessThanOrEqualTo(2);
      listed.addAll(part.items());
      cursor = part.next();
    } while (cursor.isPresent());

    assertThat(listed).containsAll(made).doesNotHaveDuplicates();
  }

  @Test
  void delete_removes_a_queue_and_is_idempotent() {
    BucketId bucket = Samples.bucketId();
    queues().ensure(bucket, LONG);

    queues().delete(bucket);
    queues().delete(bucket);

    assertThatThrownBy(() -> tokens().level(bucket)).isInstanceOf(Unavailable.class);
  }

  @Test
  void queue_names_its_creator() {
    BucketId made = Samples.bucketId();

    assertThat(queues().owner(made)).isEqualTo(Owner.NO_QUEUE);
    queues().ensure(made, LONG);
    assertThat(queues().owner(made)).isEqualTo(Owner.THIS_DEPLOYMENT);

    BucketId foreign = Samples.bucketId();
    createForeignQueue(foreign);
    assertThat(queues().owner(foreign)).isEqualTo(Owner.OTHER);
    assertThat(queues().ensure(foreign, LONG)).isEqualTo(QueueCreation.EXISTED);
    assertThat(queues().owner(foreign)).isEqualTo(Owner.THIS_DEPLOYMENT);
  }
}
