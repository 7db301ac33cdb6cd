package dev.tollgate.local.services;

import java.time.Duration;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.Terminated;
import org.apache.pekko.pattern.Patterns;
import org.elasticmq.MillisNextDelivery;
import org.elasticmq.NewMessageData;
import org.elasticmq.NextDelivery;
import org.elasticmq.StrictSQSLimits$;
import org.elasticmq.actor.QueueManagerActor;
import org.elasticmq.msg.GetQueueStatistics;
import org.elasticmq.msg.LookupQueue;
import org.elasticmq.msg.SendMessage;
import org.elasticmq.util.NowProvider;
import scala.Option;

/**
 * ElasticMQ's manager of queues by a given clock.
 *
 * <p>The engine asks its {@link NowProvider} when it delivers, but the system's clock when a
 * message arrives and when it counts messages; and its actors cannot be subclassed in Java. So this
 * actor stands before the engine's manager, and whoever looks a queue up gets a relay to it, which
 * writes the clock's instant into those two requests.
 */
final class ClockedQueues extends AbstractActor {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final ActorRef manager;
  private final InstantSource clock;
  private final ActorSystem system = getContext().getSystem();
  private final Map<ActorRef, ActorRef> relays = new ConcurrentHashMap<>();

  private ClockedQueues(ActorRef manager, InstantSource clock) {
    this.manager = manager;
    this.clock = clock;
  }

  /** The engine's own manager. */
  static Props engine(InstantSource clock, Option<ActorRef> store) {
    return Props.create(
        QueueManagerActor.class,
        () -> new QueueManagerActor(new Now(clock), StrictSQSLimits$.MODULE$, store));
  }

  /** An actor to be asked in the manager's place. */
  static Props before(ActorRef manager, InstantSource clock) {
    return Props.create(ClockedQueues.class, () -> new ClockedQueues(manager, clock));
  }

  @Override
  public Receive createReceive() {
    return receiveBuilder()
        .match(LookupQueue.class, this::lookUp)
        .matchAny(request -> manager.forward(request, getContext()))
        .build();
  }

  @SuppressWarnings("unchecked") // what LookupQueue is answered with
  private void lookUp(LookupQueue request) {
    Patterns.pipe(
            Patterns.ask(manager, request, PATIENCE)
                .thenApply(found -> ((Option<ActorRef>) found).map(this::relay)),
            getContext().getDispatcher())
        .to(getSender());
  }

  private ActorRef relay(ActorRef queue) {
    return relays.computeIfAbsent(
        queue, q -> system.actorOf(Props.create(Relay.class, () -> new Relay(q))));
  }

  private final class Relay extends AbstractActor {
    private final ActorRef queue;

    private Relay(ActorRef queue) {
      this.queue = queue;
    }

    @Override
    public void preStart() {
      getContext().watch(queue);
    }

    @Override
    public Receive createReceive() {
      return receiveBuilder()
          .match(GetQueueStatistics.class, request -> forward(statistics()))
          .match(SendMessage.class, request -> forward(new SendMessage(timed(request.message()))))
          .match(Terminated.class, end -> end())
          .matchAny(this::forward)
          .build();
    }

    private void forward(Object request) {
      queue.forward(request, getContext());
    }

    private void end() {
      relays.remove(queue);
      getContext().stop(getSelf());
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
          message.id(),
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

  /** The engine's view of the clock. */
  private static final class Now extends NowProvider {
    private final InstantSource clock;

    private Now(InstantSource clock) {
      this.clock = clock;
    }

    @Override
    public long nowMillis() {
      return clock.millis();
    }

    @Override
    public OffsetDateTime now() {
      return clock.instant().atOffset(ZoneOffset.UTC);
    }
  }
}
