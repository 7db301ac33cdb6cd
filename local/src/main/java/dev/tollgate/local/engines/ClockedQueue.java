package dev.tollgate.local.engines;

import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.apache.pekko.actor.ActorContext;
import org.apache.pekko.actor.ActorRef;
import org.elasticmq.MessageData;
import org.elasticmq.MoveDestination;
import org.elasticmq.NewMessageData;
import org.elasticmq.QueueData;
import org.elasticmq.actor.queue.InternalMessage;
import org.elasticmq.actor.queue.QueueActor;
import org.elasticmq.actor.queue.QueueActorStorage.ResultWithEvents;
import org.elasticmq.actor.queue.QueueEvent;
import org.elasticmq.actor.queue.QueueEventWithOperationStatus;
import org.elasticmq.actor.queue.operations.CommonOperations$;
import org.elasticmq.actor.queue.operations.SequenceNumber$;
import org.elasticmq.msg.GetQueueStatistics;
import org.elasticmq.msg.MoveMessage;
import org.elasticmq.msg.RestoreMessages;
import org.elasticmq.util.NowProvider;
import scala.Option;
import scala.PartialFunction;
import scala.jdk.javaapi.CollectionConverters;
import scala.reflect.ClassTag;
import scala.runtime.BoxedUnit;

/**
 * A queue of ElasticMQ that keeps time by a given clock and removes messages at the end of their
 * retention.
 *
 * <p>ElasticMQ delivers by its {@link NowProvider}, but it dates messages and counts them by the
 * system's clock, and it keeps them for ever. Here, messages are dated by the provider, and expired
 * ones are removed before the queue handles any request, also one that waited.
 */
@SuppressWarnings({"rawtypes", "unchecked"}) // see ev()
final class ClockedQueue extends QueueActor {
  private static final long NANOS_PER_MILLI = Duration.ofMillis(1).toNanos();

  private final Function<String, Duration> retention;
  private final Map<String, Long> oldestSent;

  /** When the last message was sent, in nanoseconds since the epoch. */
  private long lastSent;

  /** No message of this queue was sent before; in milliseconds since the epoch. */
  private long oldest = Long.MIN_VALUE;

  /**
   * @param retention how long a queue, by its name, keeps messages at present
   * @param oldestSent holds the names of watched queues; a queue that counts its messages writes
   *     when the oldest one was sent, in milliseconds since the epoch
   */
  ClockedQueue(
      NowProvider now,
      QueueData data,
      Option<ActorRef> deadLetters,
      Option<ActorRef> listener,
      Function<String, Duration> retention,
      Map<String, Long> oldestSent) {
    super(now, data, deadLetters, Option.empty(), Option.empty(), listener);
    this.retention = retention;
    this.oldestSent = oldestSent;
  }

  /** Raw, because javac refuses the type that scalac has given it. */
  @Override
  public ClassTag ev() {
    return super.ev();
  }

  @Override
  public void aroundReceive(PartialFunction<Object, BoxedUnit> receive, Object message) {
    expire();
    if (message instanceof GetQueueStatistics && oldestSent.containsKey(name())) {
      long oldestHere = Long.MAX_VALUE;
      for (InternalMessage each : CollectionConverters.asJava(messageQueue().all())) {
        oldestHere = Math.min(oldestHere, sentAt(each));
      }
      oldestSent.put(name(), oldestHere);
    }
    // ElasticMQ delivers a message at this instant, but would count it as visible only after.
    super.aroundReceive(
        receive,
        message instanceof GetQueueStatistics
            ? new GetQueueStatistics(nowProvider().nowMillis() + 1)
            : message);
    if (message instanceof MoveMessage || message instanceof RestoreMessages) {
      oldest = Long.MIN_VALUE;
    }
  }

  private void expire() {
    long latest = nowProvider().nowMillis() - retention.apply(name()).toMillis();
    if (oldest > latest) {
      return;
    }
    List<InternalMessage> expired = new ArrayList<>();
    oldest = nowProvider().nowMillis();
    for (InternalMessage message : CollectionConverters.asJava(messageQueue().all())) {
      if (sentAt(message) <= latest) {
        expired.add(message);
      } else {
        oldest = Math.min(oldest, sentAt(message));
      }
    }
    if (!expired.isEmpty()) {
      messageQueue_$eq(messageQueue().filterNot(message -> sentAt(message) <= latest));
      if (queueEventListener().isDefined()) {
        ActorRef listener = queueEventListener().get();
        expired.forEach(
            message ->
                listener.tell(
                    new QueueEvent.MessageRemoved(name(), message.id()), ActorRef.noSender()));
      }
    }
  }

  /** Adds a message as ElasticMQ does, but dates it and counts its delay by the clock. */
  @Override
  public ResultWithEvents<MessageData> handleOrRedirectMessage(
      NewMessageData sent, ActorContext context) {
    Option<InternalMessage> duplicate =
        queueData().isFifo()
            ? CommonOperations$.MODULE$.wasRegistered(sent, fifoMessagesHistory())
            : Option.empty();
    if (duplicate.isDefined()) {
      return ResultWithEvents().onlyValue(duplicate.get().toMessageData());
    }
    InternalMessage message = sentNow(InternalMessage.from(sent, queueData()));
    message.nextDelivery_$eq(
        sent.nextDelivery()
            .toMillis(nowProvider().nowMillis(), queueData().delay().toMillis())
            .millis());
    messageQueue().$plus$eq(message);
    fifoMessagesHistory_$eq(fifoMessagesHistory().addNew(message));
    return ResultWithEvents()
        .valueWithEvents(
            message.toMessageData(),
            CollectionConverters.<QueueEventWithOperationStatus>asScala(
                    List.of(new QueueEvent.MessageAdded(name(), message)))
                .toList());
  }

  /**
   * Adds a message of another queue. In a FIFO queue it counts as sent now; in any other, as sent
   * when it was.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-dead-letter-queues.html">Retention
   *     periods of dead-letter queues</a>
   */
  @Override
  public ResultWithEvents<BoxedUnit> moveMessage(
      InternalMessage message, MoveDestination destination, String source) {
    return super.moveMessage(
        queueData().isFifo() ? sentNow(message) : message, destination, source);
  }

  private InternalMessage sentNow(InternalMessage message) {
    return new InternalMessage(
        message.id(),
        message.deliveryReceipts(),
        message.nextDelivery(),
        message.content(),
        message.messageAttributes(),
        now(),
        message.orderIndex(),
        message.firstReceive(),
        message.receiveCount(),
        message.isFifo(),
        message.messageGroupId(),
        message.messageDeduplicationId(),
        message.tracingId(),
        message.isFifo() && message.sequenceNumber().isEmpty()
            ? Option.apply(SequenceNumber$.MODULE$.next())
            : message.sequenceNumber(),
        message.deadLetterSourceQueueName());
  }

  /** The present millisecond; with distinct nanoseconds, by which a FIFO queue orders messages. */
  private OffsetDateTime now() {
    lastSent = Math.max(lastSent + 1, nowProvider().nowMillis() * NANOS_PER_MILLI);
    return Instant.ofEpochSecond(0, lastSent).atOffset(ZoneOffset.UTC);
  }

  private static long sentAt(InternalMessage message) {
    return message.created().toInstant().toEpochMilli();
  }

  private String name() {
    return queueData().name();
  }
}
