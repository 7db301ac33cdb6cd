package dev.tollgate.local.engines;

import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.Props;
import org.elasticmq.QueueData;
import org.elasticmq.StrictSQSLimits$;
import org.elasticmq.actor.QueueManagerActor;
import org.elasticmq.util.NowProvider;
import scala.Option;
import scala.reflect.ClassTag;

/** ElasticMQ's manager of queues, which creates {@link ClockedQueue}s. */
@SuppressWarnings({"rawtypes", "unchecked"}) // see ev()
final class ClockedQueueManager extends QueueManagerActor {
  private final ClockedQueue.Retention retention;

  private ClockedQueueManager(
      Option<ActorRef> listener, ClockedQueue.Retention retention, InstantSource clock) {
    super(new Now(clock), StrictSQSLimits$.MODULE$, listener);
    this.retention = retention;
  }

  /**
   * The properties of a manager.
   *
   * @param listener stores queues and messages
   */
  static Props props(
      Option<ActorRef> listener, ClockedQueue.Retention retention, InstantSource clock) {
    return Props.create(
        ClockedQueueManager.class, () -> new ClockedQueueManager(listener, retention, clock));
  }

  /** Raw, because javac refuses the type that scalac has given it. */
  @Override
  public ClassTag ev() {
    return super.ev();
  }

  @Override
  public ActorRef createQueueActor(NowProvider now, QueueData data, Option<ActorRef> listener) {
    Option<ActorRef> deadLetters =
        data.deadLettersQueue()
            .flatMap(queue -> queues().get(queue.name()))
            .map(queue -> queue.actorRef());
    return context()
        .actorOf(
            Props.create(
                ClockedQueue.class,
                () -> new ClockedQueue(now, data, deadLetters, listener, retention)));
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
