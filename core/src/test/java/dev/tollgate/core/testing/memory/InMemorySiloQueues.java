package dev.tollgate.core.testing.memory;

import dev.tollgate.core.TenantId;
import dev.tollgate.core.provisioning.Progress;
import dev.tollgate.core.provisioning.QueueCreation;
import dev.tollgate.core.provisioning.SiloQueues;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Silo queues in memory with the delays of SQS: a queue accepts messages for a minute after it was
 * closed, a message is counted a minute after it was sent, and a name is blocked for a minute after
 * its queue was deleted.
 */
public final class InMemorySiloQueues implements SiloQueues {
  private static final Duration MINUTE = Duration.ofSeconds(60);

  private final InstantSource clock;
  private final Outage outage = new Outage();
  private final Map<TenantId, Queue> queues = new HashMap<>();
  private final Map<TenantId, Instant> deletedAt = new HashMap<>();
  private final List<Message> poolDeadLetters = new ArrayList<>();
  private final List<Message> deleted = new ArrayList<>();

  /** Creates queues that take the time from {@code clock}. */
  public InMemorySiloQueues(InstantSource clock) {
    this.clock = clock;
  }

  /** The outage of creations, changes and deletions. */
  public Outage outage() {
    return outage;
  }

  /** A sent message. */
  public record Message(TenantId tenant, String group, String body, Instant sentAt) {}

  private static final class Queue {
    private final List<Message> waiting = new ArrayList<>();
    private final List<Message> inFlight = new ArrayList<>();
    private final List<Message> dead = new ArrayList<>();
    private Optional<Instant> closedAt = Optional.empty();

    private List<Message> contents() {
      return Stream.of(waiting, inFlight, dead).flatMap(List::stream).toList();
    }
  }

  /** The tenants with a queue. */
  public synchronized Set<TenantId> tenants() {
    return Set.copyOf(queues.keySet());
  }

  /** The tenants with an open queue. */
  public synchronized Set<TenantId> open() {
    Map<TenantId, Queue> open = new HashMap<>(queues);
    open.values().removeIf(queue -> queue.closedAt.isPresent());
    return Set.copyOf(open.keySet());
  }

  /** Sends a message; returns whether the queue accepted it. */
  public synchronized boolean send(TenantId tenant, String group, String body) {
    Queue queue = queues.get(tenant);
    Instant now = clock.instant();
    if (queue == null || queue.closedAt.filter(at -> !now.isBefore(at.plus(MINUTE))).isPresent()) {
      return false;
    }
    return queue.waiting.add(new Message(tenant, group, body, now));
  }

  /** Puts a message into the tenant's dead-letter queue. */
  public synchronized void addDeadLetter(TenantId tenant, String group, String body) {
    queue(tenant)
        .ifPresent(queue -> queue.dead.add(new Message(tenant, group, body, clock.instant())));
  }

  /** Receives all waiting messages; they stay in flight. */
  public synchronized List<Message> receive(TenantId tenant) {
    return queue(tenant)
        .map(
            queue -> {
              List<Message> received = List.copyOf(queue.waiting);
              queue.inFlight.addAll(received);
              queue.waiting.clear();
              return received;
            })
        .orElse(List.of());
  }

  /** Settles all messages in flight. */
  public synchronized void settle(TenantId tenant) {
    queue(tenant).ifPresent(queue -> queue.inFlight.clear());
  }

  /** The tenant's messages: waiting, in flight, or in its dead-letter queue. */
  public synchronized List<Message> contents(TenantId tenant) {
    return queue(tenant).map(Queue::contents).orElse(List.of());
  }

  /** The messages moved to the pool's dead-letter queue. */
  public synchronized List<Message> poolDeadLetters() {
    return List.copyOf(poolDeadLetters);
  }

  /** The messages that were lost when their queue was deleted. */
  public synchronized List<Message> deleted() {
    return List.copyOf(deleted);
  }

  @Override
  public synchronized QueueCreation ensure(TenantId tenant) {
    outage.check("ensure");
    Instant at = deletedAt.getOrDefault(tenant, Instant.MIN);
    if (clock.instant().minus(MINUTE).isBefore(at)) {
      return QueueCreation.RECENTLY_DELETED;
    }
    Queue current = queues.get(tenant);
    if (current == null) {
      queues.put(tenant, new Queue());
      return QueueCreation.CREATED;
    }
    current.closedAt = Optional.empty();
    return QueueCreation.EXISTED;
  }

  @Override
  public synchronized void close(TenantId tenant) {
    outage.check("close");
    queue(tenant)
        .filter(queue -> queue.closedAt.isEmpty())
        .ifPresent(queue -> queue.closedAt = Optional.of(clock.instant()));
  }

  @Override
  public synchronized boolean isClosed(TenantId tenant) {
    outage.check("isClosed");
    return queue(tenant).map(queue -> queue.closedAt.isPresent()).orElse(true);
  }

  @Override
  public synchronized long depth(TenantId tenant) {
    outage.check("depth");
    Instant counted = clock.instant().minus(MINUTE);
    return queue(tenant)
        .map(
            queue ->
                queue.inFlight.size()
                    + queue.waiting.stream()
                        .filter(message -> !message.sentAt().isAfter(counted))
                        .count())
        .orElse(0L);
  }

  @Override
  public synchronized Progress moveDeadLetters(TenantId tenant) {
    outage.check("moveDeadLetters");
    queue(tenant)
        .ifPresent(
            queue -> {
              poolDeadLetters.addAll(queue.dead);
              queue.dead.clear();
            });
    return Progress.DONE;
  }

  @Override
  public synchronized void delete(TenantId tenant) {
    outage.check("delete");
    queue(tenant)
        .ifPresent(
            queue -> {
              deleted.addAll(queue.contents());
              deletedAt.put(tenant, clock.instant());
              queues.remove(tenant);
            });
  }

  private Optional<Queue> queue(TenantId tenant) {
    return Optional.ofNullable(queues.get(tenant));
  }
}
