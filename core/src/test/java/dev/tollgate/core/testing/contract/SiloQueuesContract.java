package dev.tollgate.core.testing.contract;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.testing.Samples;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The contract of {@link SiloQueues}. */
public abstract class SiloQueuesContract {
  private static final String GROUP = "a-session";

  /** The queues under test. */
  protected abstract SiloQueues queues();

  /** Sends a message as API Gateway does; returns whether the queue accepted it. */
  protected abstract boolean send(TenantId tenant, String group, String body);

  /** Puts a message into the tenant's dead-letter queue. */
  protected abstract void addDeadLetter(TenantId tenant, String group, String body);

  /** Receives messages from the tenant's queue; they stay in flight. */
  protected abstract List<String> receive(TenantId tenant);

  /** The tenant's messages among the pool's dead letters, as group and body. */
  protected abstract List<String> poolDeadLetters(TenantId tenant);

  /** Waits until changes that take a minute are in force. */
  protected abstract void aMinutePasses();

  @Test
  void created_queue_accepts_messages() {
    TenantId tenant = Samples.tenantId();
    assertThat(send(tenant, GROUP, "early")).isFalse();

    assertThat(queues().ensure(tenant)).isEqualTo(QueueCreation.CREATED);

    assertThat(send(tenant, GROUP, "one")).isTrue();
    assertThat(receive(tenant)).containsExactly("one");
  }

  @Test
  void create_of_an_existing_queue_keeps_its_messages() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    send(tenant, GROUP, "one");

    assertThat(queues().ensure(tenant)).isEqualTo(QueueCreation.EXISTED);

    assertThat(receive(tenant)).containsExactly("one");
  }

  @Test
  void closed_queue_rejects_messages_and_keeps_those_it_has() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    send(tenant, GROUP, "one");
    assertThat(queues().isClosed(tenant)).isFalse();

    queues().close(tenant);
    queues().close(tenant);
    aMinutePasses();

    assertThat(queues().isClosed(tenant)).isTrue();

    assertThat(send(tenant, GROUP, "late")).isFalse();
    assertThat(receive(tenant)).containsExactly("one");
  }

  @Test
  void closed_queue_that_is_created_again_accepts_messages() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    queues().close(tenant);
    aMinutePasses();

    assertThat(queues().ensure(tenant)).isEqualTo(QueueCreation.EXISTED);
    aMinutePasses();

    assertThat(queues().isClosed(tenant)).isFalse();

    assertThat(send(tenant, GROUP, "again")).isTrue();
  }

  @Test
  void depth_counts_waiting_and_in_flight_messages() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    assertThat(queues().depth(tenant)).isZero();
    send(tenant, "first", "one");
    send(tenant, "second", "two");
    aMinutePasses();
    assertThat(queues().depth(tenant)).isEqualTo(2);

    receive(tenant);

    assertThat(queues().depth(tenant)).isEqualTo(2);
  }

  @Test
  void dead_letters_move_to_the_pool_with_their_group_and_order() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    for (int i = 0; i < 13; i++) {
      addDeadLetter(tenant, i % 2 == 0 ? "even" : "odd", "letter-" + i);
    }

    assertThat(queues().moveDeadLetters(tenant)).isEqualTo(Progress.DONE);
    assertThat(queues().moveDeadLetters(tenant)).isEqualTo(Progress.DONE);

    assertThat(poolDeadLetters(tenant).stream().filter(letter -> letter.startsWith("even")))
        .containsExactly(
            "even letter-0",
            "even letter-2",
            "even letter-4",
            "even letter-6",
            "even letter-8",
            "even letter-10",
            "even letter-12");
    assertThat(poolDeadLetters(tenant)).hasSize(13);
  }

  @Test
  void dead_letters_with_equal_bodies_are_all_moved() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    addDeadLetter(tenant, GROUP, "same");
    addDeadLetter(tenant, GROUP, "same");

    queues().moveDeadLetters(tenant);

    assertThat(poolDeadLetters(tenant)).containsExactly(GROUP + " same", GROUP + " same");
  }

  @Test
  void delete_removes_queues_and_is_idempotent() {
    TenantId tenant = Samples.tenantId();
    queues().ensure(tenant);
    send(tenant, GROUP, "one");

    queues().delete(tenant);
    queues().delete(tenant);

    assertThat(send(tenant, GROUP, "late")).isFalse();
  }

  @Test
  void missing_queue_is_empty_and_cannot_be_closed() {
    TenantId unknown = Samples.tenantId();

    queues().close(unknown);

    assertThat(queues().isClosed(unknown)).isTrue();
    assertThat(queues().depth(unknown)).isZero();
    assertThat(queues().moveDeadLetters(unknown)).isEqualTo(Progress.DONE);
  }
}
