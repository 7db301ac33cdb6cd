package dev.tollgate.local.services;

import java.time.Duration;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.actor.Status;
import org.apache.pekko.pattern.Patterns;
import org.elasticmq.ElasticMQError;
import org.elasticmq.StrictSQSLimits$;
import org.elasticmq.actor.QueueManagerActor;
import org.elasticmq.actor.queue.OperationUnsupported$;
import org.elasticmq.actor.queue.QueueEvent;
import org.elasticmq.msg.CreateQueue;
import org.elasticmq.msg.LookupQueue;
import org.elasticmq.util.NowProvider;
import scala.Option;
import scala.util.Either;

/**
 * ElasticMQ's manager of queues by a given clock.
 *
 * <p>The engine asks its {@link NowProvider} when it delivers, but the system's clock when a
 * message arrives and when it counts messages; it keeps messages for ever; and its actors cannot be
 * subclassed in Java. So this actor stands before the engine's manager, and whoever makes a queue
 * or looks one up gets a {@link QueueRelay} to it. What the queues hold is learnt from the events
 * by which the engine has them written down.
 */
final class ClockedQueues extends AbstractActor {
  private static final Duration PATIENCE = Duration.ofSeconds(20);

  private final ActorRef manager;
  private final SentMessages sent;
  private final ToLongFunction<String> retention;
  private final InstantSource clock;
  private final ActorSystem system = getContext().getSystem();
  private final Map<ActorRef, ActorRef> relays = new ConcurrentHashMap<>();

  private ClockedQueues(
      Option<ActorRef> store, ToLongFunction<String> retention, InstantSource clock) {
    this.sent = new SentMessages(clock);
    this.retention = retention;
    this.clock = clock;
    Option<ActorRef> listener =
        Option.apply(system.actorOf(Props.create(Listener.class, () -> new Listener(sent, store))));
    this.manager =
        system.actorOf(
            Props.create(
                QueueManagerActor.class,
                () -> new QueueManagerActor(new Now(clock), StrictSQSLimits$.MODULE$, listener)));
  }

  /**
   * The manager of queues.
   *
   * @param store where queues and messages are written down
   * @param retention how long a queue keeps messages, by its name; in milliseconds
   */
  static Props props(
      Option<ActorRef> store, ToLongFunction<String> retention, InstantSource clock) {
    return Props.create(ClockedQueues.class, () -> new ClockedQueues(store, retention, clock));
  }

  @Override
  public Receive createReceive() {
    return receiveBuilder()
        .match(LookupQueue.class, this::lookUp)
        .match(CreateQueue.class, this::create)
        .matchAny(request -> manager.forward(request, getContext()))
        .build();
  }

  @SuppressWarnings("unchecked") // what LookupQueue is answered with
  private void lookUp(LookupQueue request) {
    ask(
        request,
        found -> ((Option<ActorRef>) found).map(queue -> relay(request.queueName(), queue)));
  }

  @SuppressWarnings("unchecked") // what CreateQueue is answered with
  private void create(CreateQueue request) {
    ask(
        request,
        made ->
            ((Either<ElasticMQError, ActorRef>) made)
                .map(queue -> relay(request.request().name(), queue)));
  }

  /**
   * Has the engine's manager answer, with its queue's relay in the place of the queue.
   *
   * <p>The executor is named because a stage of Scala's would start a thread for each step on a
   * machine of two processors.
   */
  private void ask(Object request, Function<Object, Object> withRelay) {
    ActorRef client = getSender();
    var unused =
        Patterns.ask(manager, request, PATIENCE)
            .thenApplyAsync(withRelay, getContext().getDispatcher())
            .whenCompleteAsync(
                (answer, failure) ->
                    client.tell(
                        failure == null ? answer : new Status.Failure(failure),
                        ActorRef.noSender()),
                getContext().getDispatcher());
  }

  private ActorRef relay(String name, ActorRef queue) {
    return relays.computeIfAbsent(
        queue,
        q ->
            system.actorOf(
                QueueRelay.props(
                    q,
                    new QueueRelay.Expiry(name, sent, () -> retention.applyAsLong(name)),
                    clock,
                    () -> relays.remove(q))));
  }

  /** Notes which messages the queues hold, before they are written down. */
  private static final class Listener extends AbstractActor {
    private final SentMessages sent;
    private final Option<ActorRef> store;

    private Listener(SentMessages sent, Option<ActorRef> store) {
      this.sent = sent;
      this.store = store;
    }

    @Override
    public Receive createReceive() {
      return receiveBuilder()
          .match(
              QueueEvent.MessageAdded.class,
              event -> {
                sent.added(event.queueName(), event.message());
                pass(event);
              })
          .match(
              QueueEvent.MessageRemoved.class,
              event -> {
                sent.removed(event.queueName(), event.messageId());
                pass(event);
              })
          .match(
              QueueEvent.QueueDeleted.class,
              event -> {
                sent.queueDeleted(event.queueName());
                pass(event);
              })
          .matchAny(this::pass)
          .build();
    }

    private void pass(Object event) {
      if (store.isDefined()) {
        store.get().forward(event, getContext());
      } else {
        getSender().tell(OperationUnsupported$.MODULE$, getSelf());
      }
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
