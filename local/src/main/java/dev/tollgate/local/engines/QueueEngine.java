package dev.tollgate.local.engines;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpHandler;
import java.lang.reflect.Proxy;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.pattern.Patterns;
import org.elasticmq.LimitedValue;
import org.elasticmq.Limits;
import org.elasticmq.NodeAddress;
import org.elasticmq.StrictSQSLimits$;
import org.elasticmq.actor.queue.QueueEvent;
import org.elasticmq.persistence.sql.SqlQueuePersistenceActor;
import org.elasticmq.persistence.sql.SqlQueuePersistenceConfig;
import org.elasticmq.rest.sqs.SQSRestServerBuilder$;
import scala.Option;

/** ElasticMQ, called in this process without a port, by a given clock. */
public final class QueueEngine implements AutoCloseable {
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String CONFIGURATION =
      """
      pekko.daemonic = on
      pekko.loggers = []
      pekko.loglevel = OFF
      pekko.stdout-loglevel = OFF
      pekko.jvm-shutdown-hooks = off
      """;

  /**
   * The limits of SQS as ElasticMQ knows them, except for one that SQS has raised since: the length
   * of a message.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html">Message
   *     quotas</a>
   */
  private static final Limits LIMITS =
      (Limits)
          Proxy.newProxyInstance(
              Limits.class.getClassLoader(),
              new Class<?>[] {Limits.class},
              (proxy, limit, arguments) ->
                  limit.getName().equals("maxMessageLength")
                      ? new LimitedValue<>(1024 * 1024)
                      : limit.invoke(StrictSQSLimits$.MODULE$, arguments));

  private final ActorSystem actors;
  private final QueueAttributes attributes;
  private final QueueApi handler;
  private final Map<String, Long> oldestSent = new ConcurrentHashMap<>();
  private final InstantSource clock;

  /**
   * Starts the engine.
   *
   * @param directory the directory for queues and messages; without it they are kept in memory
   * @param expiresEarly whether a queue, by its name, now keeps messages for half of their
   *     retention
   * @throws Exception if it does not start
   */
  public QueueEngine(
      Optional<Path> directory, Environment environment, Predicate<String> expiresEarly)
      throws Exception {
    ClassLoader loader = QueueEngine.class.getClassLoader();
    Config config =
        ConfigFactory.parseString(CONFIGURATION).withFallback(ConfigFactory.load(loader));
    actors = ActorSystem.create("elasticmq", config, loader);
    attributes = new QueueAttributes(directory);
    Option<ActorRef> store = Option.apply(directory.map(this::store).orElse(null));
    Function<String, Duration> retention =
        queue -> attributes.retention(queue).dividedBy(expiresEarly.test(queue) ? 2 : 1);
    ActorRef manager =
        actors.actorOf(
            Props.create(
                ClockedQueues.class,
                () -> new ClockedQueues(store, retention, oldestSent, environment.clock())));
    QueueHttp http = QueueHttp.install(actors);
    SQSRestServerBuilder$.MODULE$
        .withActorSystem(actors)
        .withQueueManagerActor(manager)
        .withServerAddress(new Address(environment.region()))
        .withSQSLimits(LIMITS)
        .withAWSRegion(environment.region())
        .withAWSAccountId(environment.accountId())
        .start()
        .waitUntilStarted();
    if (store.isDefined()) {
      var unused =
          Patterns.ask(store.get(), new QueueEvent.Restore(manager), PATIENCE)
              .toCompletableFuture()
              .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    clock = environment.clock();
    handler = new QueueApi(http, environment, attributes);
  }

  /** The address of SQS in a region. */
  private static final class Address extends NodeAddress {
    private Address(String region) {
      super("https", "sqs." + region + ".amazonaws.com", 443, "");
    }

    /** Without a port, as in the URLs of AWS. */
    @Override
    public String hostAndPort() {
      return host();
    }
  }

  /** Serves {@code sqs}. */
  public HttpHandler handler() {
    return handler;
  }

  /**
   * Passes the CloudWatch metrics of a queue and their values to a consumer. A queue that does not
   * exist has none.
   */
  public void measure(String queue, BiConsumer<String, Double> metrics) {
    oldestSent.putIfAbsent(queue, Long.MAX_VALUE);
    handler
        .visibleMessages(queue)
        .ifPresent(
            visible -> {
              long sent = Math.min(clock.millis(), oldestSent.getOrDefault(queue, Long.MAX_VALUE));
              metrics.accept("ApproximateNumberOfMessagesVisible", (double) visible);
              metrics.accept("ApproximateAgeOfOldestMessage", (clock.millis() - sent) / 1000.0);
            });
  }

  /** The policy of a queue, if it has one. */
  public Optional<String> policy(String queue) {
    return Optional.of(attributes.policy(queue)).filter(policy -> !policy.isEmpty());
  }

  @Override
  public void close() {
    actors.terminate();
    actors
        .getWhenTerminated()
        .toCompletableFuture()
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  /**
   * Stores queues and messages. Every commit writes the file, so that what was answered survives
   * the end of this process.
   */
  private ActorRef store(Path directory) {
    String url = "jdbc:h2:" + directory.toAbsolutePath().resolve("queues") + ";WRITE_DELAY=0";
    var database = new SqlQueuePersistenceConfig(true, "org.h2.Driver", url, "", "", false);
    return actors.actorOf(
        Props.create(
            SqlQueuePersistenceActor.class,
            () ->
                new SqlQueuePersistenceActor(
                    database, scala.collection.immutable.List$.MODULE$.empty())));
  }
}
