package dev.tollgate.local.services;

import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import org.elasticmq.MessageId;
import org.elasticmq.actor.queue.InternalMessage;

/**
 * When the messages that the queues hold were sent, by the cloud's clock. The engine forgets it:
 * what it notes is the system's time. So the instant is in a message's id, which is a UUID of
 * version 7 and lasts as long as the message does.
 *
 * <p>May be used by many threads. To add, remove or take a message costs the logarithm of how many
 * its queue holds.
 *
 * @see <a href="https://www.rfc-editor.org/rfc/rfc9562#name-uuid-version-7">UUID Version 7</a>
 */
final class SentMessages {
  private final InstantSource clock;
  private final Map<String, Queue> queues = new ConcurrentHashMap<>();

  SentMessages(InstantSource clock) {
    this.clock = clock;
  }

  /** A message and when it was sent, in milliseconds since the epoch. */
  private record Sent(long at, InternalMessage message) {
    private static final Comparator<Sent> ORDER =
        Comparator.comparingLong(Sent::at).thenComparing(sent -> sent.message().id());
  }

  private static final class Queue {
    private final TreeSet<Sent> byAge = new TreeSet<>(Sent.ORDER);
    private final Map<String, Sent> byId = new HashMap<>();

    synchronized void add(Sent sent) {
      remove(sent.message().id());
      byAge.add(sent);
      byId.put(sent.message().id(), sent);
    }

    synchronized void remove(String id) {
      Sent sent = byId.remove(id);
      if (sent != null) {
        byAge.remove(sent);
      }
    }

    synchronized List<InternalMessage> takeUntil(long instant) {
      List<InternalMessage> taken = new ArrayList<>();
      while (!byAge.isEmpty() && byAge.first().at() <= instant) {
        InternalMessage message = byAge.first().message();
        remove(message.id());
        taken.add(message);
      }
      return taken;
    }

    synchronized Optional<Sent> find(String id) {
      return Optional.ofNullable(byId.get(id));
    }

    synchronized int size() {
      return byId.size();
    }
  }

  /** An id for a message that is sent now. */
  MessageId newId() {
    ThreadLocalRandom random = ThreadLocalRandom.current();
    return new MessageId(
        new UUID(
                clock.millis() << 16 | 0x7000 | random.nextInt(0x1000),
                random.nextLong() >>> 2 | Long.MIN_VALUE)
            .toString());
  }

  /**
   * When a message that a queue gave was sent, in milliseconds since the epoch.
   *
   * @param created when it was, as the engine has noted; taken for an id that does not tell
   */
  long sentAt(String queue, String id, OffsetDateTime created) {
    return of(queue).find(id).map(Sent::at).orElseGet(() -> sentAt(id, created));
  }

  private static long sentAt(String id, OffsetDateTime created) {
    UUID uuid = UUID.fromString(id);
    return uuid.version() == 7
        ? uuid.getMostSignificantBits() >>> 16
        : created.toInstant().toEpochMilli();
  }

  /**
   * Notes that a queue holds a message from now on. One that came to the dead-letter queue of a
   * FIFO queue counts as sent now; to any other, as sent when it was.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html">Retention
   *     periods of dead-letter queues</a>
   */
  void added(String queue, InternalMessage message) {
    if (message.isFifo() && message.deadLetterSourceQueueName().isDefined()) {
      of(queue).add(new Sent(clock.millis(), message));
    } else {
      restored(queue, message);
    }
  }

  /** Notes that a queue holds a message that an earlier run of the engine has written down. */
  void restored(String queue, InternalMessage message) {
    of(queue).add(new Sent(sentAt(message.id(), message.created()), message));
  }

  void removed(String queue, String id) {
    of(queue).remove(id);
  }

  void queueDeleted(String queue) {
    queues.remove(queue);
  }

  /** Takes those messages of a queue that were sent at an instant or before. */
  List<InternalMessage> takeUntil(String queue, long instant) {
    return of(queue).takeUntil(instant);
  }

  /** How many messages a queue holds. */
  int count(String queue) {
    return of(queue).size();
  }

  private Queue of(String queue) {
    return queues.computeIfAbsent(queue, name -> new Queue());
  }
}
