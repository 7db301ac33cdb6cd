package dev.tollgate.local.engines;

import java.time.Duration;
import java.time.InstantSource;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.function.Function;
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
final class ClockedQueues extends QueueManagerActor {
  private final Function<String, Duration> retention;
  private final Map<String, Long> oldestSent;

  /**
   * @param listener stores queues and messages
   * @param retention how long a queue, by its name, keeps messages at present
   * @param oldestSent see {@link ClockedQueue}
   */
  ClockedQueues(
      Option<ActorRef> listener,
      Function<String, Duration> retention,
      Map<String, Long> oldestSent,
      InstantSource clock) {
    super(
        new NowProvider() {
          @Override
          public long nowMillis() {
            return clock.millis();
          }

          @Override
          public OffsetDateTime now() {
            return clock.instant().atOffset(ZoneOffset.UTC);
          }
        },
        StrictSQSLimits$.MODULE$,
        listener);
    this.retention = retention;
    this.oldestSent = oldestSent;
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
                () -> new ClockedQueue(now, data, deadLetters, listener, retention, oldestSent)));
  }
}
