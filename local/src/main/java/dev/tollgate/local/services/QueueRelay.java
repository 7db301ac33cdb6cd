package dev.tollgate.local.services;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.ZoneOffset;
import java.util.List;
import java.util.function.LongSupplier;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.Terminated;
import org.apache.pekko.pattern.Patterns;
import org.elasticmq.DeliveryReceipt;
import org.elasticmq.MessageContent;
import org.elasticmq.MessageData;
import org.elasticmq.MessageId;
import org.elasticmq.MillisNextDelivery;
import org.elasticmq.MillisVisibilityTimeout;
import org.elasticmq.NewMessageData;
import org.elasticmq.NextDelivery;
import org.elasticmq.actor.queue.InternalMessage;
import org.elasticmq.msg.DeleteMessage;
import org.elasticmq.msg.GetQueueStatistics;
import org.elasticmq.msg.ReceiveMessages;
import org.elasticmq.msg.RestoreMessages;
import org.elasticmq.msg.SendMessage;
import org.elasticmq.msg.UpdateVisibilityTimeout;
import scala.Option;
import scala.collection.mutable.ArrayBuffer;
import scala.jdk.javaapi.CollectionConverters;

/**
 * Stands before one of the engine's queues: writes the clock's instant into requests, and removes
 * the messages that are past the queue's retention before anybody can see or count them.
 *
 * <p>The engine deletes a message only by the receipt that it gave last, and most of what expires
 * was never received. But it restores messages from its database, one in the place of another with
 * the same id. So a message that is to go is replaced by a tombstone with a known receipt, and that
 * is deleted; in whatever state the message was, and whether or not it was there any more. All that
 * goes to the queue in order, so what is asked afterwards finds it done.
 *
 * <p>A queue that expires nothing costs a look at its oldest message with each request.
 */
final class QueueRelay extends AbstractActor {
  /** Longer than any wait for messages, which is 20 s at most. */
  private static final Duration PATIENCE = Duration.ofSeconds(40);

  /** How long a tombstone is invisible, of which nothing is seen as it is deleted at once. */
  private static final long TOMBSTONE_MILLIS = Duration.ofDays(1).toMillis();

  /** From how many removed messages on it is worth while to have the engine clear up. */
  private static final int MANY = 100;

  private final ActorRef queue;
  private final Expiry expiry;
  private final InstantSource clock;
  private final Runnable ended;
  private int removed;

  private QueueRelay(ActorRef queue, Expiry expiry, InstantSource clock, Runnable ended) {
    this.queue = queue;
    this.expiry = expiry;
    this.clock = clock;
    this.ended = ended;
  }

  /**
   * A relay.
   *
   * @param ended told when there is no such queue any more
   */
  static Props props(ActorRef queue, Expiry expiry, InstantSource clock, Runnable ended) {
    return Props.create(QueueRelay.class, () -> new QueueRelay(queue, expiry, clock, ended));
  }

  /**
   * Which messages a queue is to lose.
   *
   * @param retentionMillis how long it keeps a message from when that was sent
   */
  record Expiry(String queueName, SentMessages sent, LongSupplier retentionMillis) {
    /** What was sent at this instant or before has expired. */
    long latest(InstantSource clock) {
      return clock.millis() - retentionMillis.getAsLong();
    }

    long sentAt(MessageData message) {
      return sent.sentAt(queueName, message.id().id(), message.created());
    }
  }

  /**
   * What the queue gave.
   *
   * @param until when the request is to be answered at the latest, by {@link System#nanoTime}
   */
  private record Received(ReceiveMessages request, long until, List<MessageData> messages) {}

  @Override
  public void preStart() {
    getContext().watch(queue);
  }

  @Override
  public Receive createReceive() {
    return receiveBuilder()
        .match(Terminated.class, end -> end())
        .match(Received.class, this::answer)
        .match(
            RestoreMessages.class,
            request -> {
              request
                  .messages()
                  .foreach(
                      message -> {
                        expiry.sent().restored(expiry.queueName(), message);
                        return message;
                      });
              forward(request);
            })
        .match(GetQueueStatistics.class, request -> forward(statistics()))
        .match(SendMessage.class, request -> forward(new SendMessage(timed(request.message()))))
        .match(ReceiveMessages.class, this::receive)
        .matchAny(this::forward)
        .build();
  }

  private void end() {
    ended.run();
    getContext().stop(getSelf());
  }

  private void forward(Object request) {
    expire();
    queue.forward(request, getContext());
  }

  private void tell(Object request) {
    queue.tell(request, ActorRef.noSender());
  }

  private void expire() {
    List<InternalMessage> expired =
        expiry.sent().takeUntil(expiry.queueName(), expiry.latest(clock));
    removed += expired.size();
    for (int i = 0; i < expired.size(); i++) {
      DeliveryReceipt receipt = DeliveryReceipt.generate(new MessageId(expired.get(i).id()));
      tell(new RestoreMessages(scalaList(List.of(tombstone(expired.get(i), receipt)))));
      if (i == expired.size() - 1) {
        clearUp(receipt);
      }
      tell(new DeleteMessage(receipt));
    }
  }

  private InternalMessage tombstone(InternalMessage message, DeliveryReceipt receipt) {
    ArrayBuffer<String> receipts = new ArrayBuffer<>();
    receipts.addOne(receipt.receipt());
    return new InternalMessage(
        message.id(),
        receipts,
        clock.millis() + 2 * TOMBSTONE_MILLIS,
        new MessageContent(""),
        scala.collection.immutable.Map$.MODULE$.empty(),
        message.created(),
        message.orderIndex(),
        message.firstReceive(),
        message.receiveCount(),
        message.isFifo(),
        message.messageGroupId(),
        Option.empty(),
        Option.empty(),
        Option.empty(),
        Option.empty());
  }

  /**
   * Has the engine forget what was removed. It deletes by id, and leaves the message in its order
   * of delivery until its turn would come, which is never if nobody receives. When it brings a
   * delivery forward it makes that order anew, in time linear in what is left; so that is asked for
   * when more was removed than that.
   */
  private void clearUp(DeliveryReceipt tombstone) {
    if (removed >= MANY && removed >= expiry.sent().count(expiry.queueName())) {
      removed = 0;
      tell(new UpdateVisibilityTimeout(tombstone, new MillisVisibilityTimeout(TOMBSTONE_MILLIS)));
    }
  }

  private void receive(ReceiveMessages request) {
    Option<Duration> wait = request.waitForMessages();
    ask(request, System.nanoTime() + (wait.isDefined() ? wait.get().toNanos() : 0));
  }

  @SuppressWarnings("unchecked") // what ReceiveMessages is answered with
  private void ask(ReceiveMessages request, long until) {
    expire();
    ActorRef self = getSelf();
    ActorRef client = getSender();
    var unused =
        Patterns.ask(queue, request, PATIENCE)
            .thenAcceptAsync(
                messages ->
                    self.tell(
                        new Received(
                            request,
                            until,
                            CollectionConverters.asJava(
                                (scala.collection.immutable.List<MessageData>) messages)),
                        client),
                getContext().getDispatcher());
  }

  /**
   * Answers with what has not expired while the request waited. If nothing is left the request goes
   * on waiting.
   */
  private void answer(Received received) {
    long latest = expiry.latest(clock);
    List<MessageData> current =
        received.messages().stream()
            .filter(message -> expiry.sentAt(message) > latest)
            .map(this::dated)
            .toList();
    received.messages().stream()
        .filter(message -> expiry.sentAt(message) <= latest)
        .forEach(message -> tell(new DeleteMessage(message.deliveryReceipt().get())));
    if (current.isEmpty() && !received.messages().isEmpty()) {
      ReceiveMessages request = received.request();
      long left = Math.max(0, received.until() - System.nanoTime());
      ask(
          new ReceiveMessages(
              request.visibilityTimeout(),
              request.count(),
              Option.apply(Duration.ofNanos(left)),
              request.receiveRequestAttemptId()),
          received.until());
    } else {
      getSender().tell(scalaList(current), getSelf());
    }
  }

  /** The message with the clock's instant of when it was sent. */
  private MessageData dated(MessageData message) {
    return new MessageData(
        message.id(),
        message.deliveryReceipt(),
        message.content(),
        message.messageAttributes(),
        message.nextDelivery(),
        Instant.ofEpochMilli(expiry.sentAt(message)).atOffset(ZoneOffset.UTC),
        message.statistics(),
        message.messageGroupId(),
        message.messageDeduplicationId(),
        message.tracingId(),
        message.sequenceNumber(),
        message.deadLetterSourceQueueName());
  }

  /**
   * The engine counts a message as visible after the instant of its delivery, but delivers it at
   * that instant.
   */
  private GetQueueStatistics statistics() {
    return new GetQueueStatistics(clock.millis() + 1);
  }

  private NewMessageData timed(NewMessageData message) {
    return new NewMessageData(
        Option.apply(message.id().getOrElse(expiry.sent()::newId)),
        message.content(),
        message.messageAttributes(),
        new Delivery(message.nextDelivery()),
        message.messageGroupId(),
        message.messageDeduplicationId(),
        message.orderIndex(),
        message.tracingId(),
        message.sequenceNumber(),
        message.deadLetterSourceQueueName());
  }

  private static <T> scala.collection.immutable.List<T> scalaList(List<T> elements) {
    return CollectionConverters.asScala(elements).toList();
  }

  /** When a message can be delivered first, whatever instant the engine counts its delay from. */
  private final class Delivery extends NextDelivery {
    private final NextDelivery asked;

    private Delivery(NextDelivery asked) {
      this.asked = asked;
    }

    @Override
    public MillisNextDelivery toMillis(long systemMillis, long queueDelayMillis) {
      return asked.toMillis(clock.millis(), queueDelayMillis);
    }
  }
}
