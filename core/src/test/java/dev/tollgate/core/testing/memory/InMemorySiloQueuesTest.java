package dev.tollgate.core.testing.memory;

import static org.assertj.core.api.Assertions.assertThat;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.SiloQueues;
import dev.tollgate.core.testing.ManualClock;
import dev.tollgate.core.testing.Samples;
import dev.tollgate.core.testing.contract.SiloQueuesContract;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class InMemorySiloQueuesTest extends SiloQueuesContract {
  private final ManualClock clock = new ManualClock(Samples.NOW);
  private final InMemorySiloQueues queues = new InMemorySiloQueues(clock);

  @Override
  protected SiloQueues queues() {
    return queues;
  }

  @Override
  protected boolean send(TenantId tenant, String group, String body) {
    return queues.send(tenant, group, body);
  }

  @Override
  protected void addDeadLetter(TenantId tenant, String group, String body) {
    queues.addDeadLetter(tenant, group, body);
  }

  @Override
  protected List<String> receive(TenantId tenant) {
    return queues.receive(tenant).stream().map(InMemorySiloQueues.Message::body).toList();
  }

  @Override
  protected List<String> poolDeadLetters(TenantId tenant) {
    return queues.poolDeadLetters().stream()
        .filter(letter -> letter.tenant().equals(tenant))
        .map(letter -> letter.group() + " " + letter.body())
        .toList();
  }

  @Override
  protected void aMinutePasses() {
    clock.advance(Duration.ofMinutes(1));
  }

  @Test
  void deleted_queues_cannot_be_created_again_for_a_minute() {
    TenantId tenant = Samples.tenantId();
    queues.ensure(tenant);
    queues.delete(tenant);

    clock.advance(Duration.ofSeconds(59));
    assertThat(queues.ensure(tenant)).isEqualTo(QueueCreation.RECENTLY_DELETED);
    clock.advance(Duration.ofSeconds(1));
    assertThat(queues.ensure(tenant)).isEqualTo(QueueCreation.CREATED);
  }

  @Test
  void closed_queue_accepts_messages_for_a_minute_and_counts_them_a_minute_later() {
    TenantId tenant = Samples.tenantId();
    queues.ensure(tenant);
    queues.close(tenant);

    clock.advance(Duration.ofSeconds(59));
    assertThat(queues.send(tenant, "group", "late")).isTrue();
    clock.advance(Duration.ofSeconds(59));
    assertThat(queues.depth(tenant)).isZero();
    clock.advance(Duration.ofSeconds(1));
    assertThat(queues.depth(tenant)).isEqualTo(1);
  }

  @Test
  void messages_deleted_with_their_queue_are_reported() {
    TenantId tenant = Samples.tenantId();
    queues.ensure(tenant);
    queues.send(tenant, "group", "lost");
    queues.delete(tenant);

    assertThat(queues.deleted())
        .extracting(InMemorySiloQueues.Message::body)
        .containsExactly("lost");
  }
}
