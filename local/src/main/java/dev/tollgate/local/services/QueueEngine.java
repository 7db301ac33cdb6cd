package dev.tollgate.local.services;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;
import io.undertow.server.HttpHandler;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.apache.pekko.pattern.Patterns;
import org.elasticmq.NodeAddress;
import org.elasticmq.actor.queue.QueueEvent;
import org.elasticmq.persistence.sql.SqlQueuePersistenceActor;
import org.elasticmq.persistence.sql.SqlQueuePersistenceConfig;
import org.elasticmq.rest.sqs.SQSRestServerBuilder$;
import scala.Option;

/** ElasticMQ on the loopback interface, by a given clock. */
public final class QueueEngine implements AutoCloseable {
  private static final NodeAddress ADDRESS = new NodeAddress("http", "elasticmq", 1, "");
  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final String CONFIGURATION =
      """
      pekko.daemonic = on
      pekko.loggers = []
      pekko.loglevel = OFF
      pekko.stdout-loglevel = OFF
      pekko.jvm-shutdown-hooks = off
      pekko.http.server.idle-timeout = infinite
      pekko.http.server.request-timeout = 30s
      """;

  private final ActorSystem actors;
  private final URI endpoint;
  private final EngineKey key;
  private final KeptAttributes keptAttributes;
  private final Optional<Connection> database;
  private final InstantSource clock;
  private final String region;
  private final String accountId;

  private QueueEngine(
      ActorSystem actors,
      URI endpoint,
      EngineKey key,
      KeptAttributes keptAttributes,
      Optional<Connection> database,
      InstantSource clock,
      String region,
      String accountId) {
    this.actors = actors;
    this.endpoint = endpoint;
    this.key = key;
    this.keptAttributes = keptAttributes;
    this.database = database;
    this.clock = clock;
    this.region = region;
    this.accountId = accountId;
  }

  /**
   * Starts the engine.
   *
   * @param directory where to keep queues and messages; without it they are kept in memory
   * @throws Exception if it does not start
   */
  public static QueueEngine start(
      Optional<Path> directory, InstantSource clock, String region, String accountId)
      throws Exception {
    return start(directory, clock, region, accountId, queue -> false);
  }

  /**
   * Starts the engine.
   *
   * @param directory where to keep queues and messages; without it they are kept in memory
   * @param expiresEarly whether a queue keeps messages for half as long as it should, now
   * @throws Exception if it does not start
   */
  public static QueueEngine start(
      Optional<Path> directory,
      InstantSource clock,
      String region,
      String accountId,
      Predicate<String> expiresEarly)
      throws Exception {
    ClassLoader loader = QueueEngine.class.getClassLoader();
    Config config =
        ConfigFactory.parseString(CONFIGURATION).withFallback(ConfigFactory.load(loader));
    ActorSystem actors = ActorSystem.create("elasticmq", config, loader);
    EngineKey key = new EngineKey();
    KeyedHttp.install(actors, key);
    Option<ActorRef> store =
        Option.apply(
            directory
                .map(
                    path ->
                        actors.actorOf(
                            Props.create(
                                SqlQueuePersistenceActor.class,
                                () ->
                                    new SqlQueuePersistenceActor(
                                        storage(path),
                                        scala.collection.immutable.List$.MODULE$.empty()))))
                .orElse(null));
    KeptAttributes keptAttributes = KeptAttributes.open(directory);
    ActorRef manager =
        actors.actorOf(
            ClockedQueueManager.props(
                store,
                queue ->
                    QueueApi.retention(keptAttributes, queue)
                        .dividedBy(expiresEarly.test(queue) ? 2 : 1),
                clock));
    InetSocketAddress address =
        SQSRestServerBuilder$.MODULE$
            .withActorSystem(actors)
            .withQueueManagerActor(manager)
            .withInterface("127.0.0.1")
            .withDynamicPort()
            .withServerAddress(ADDRESS)
            .withSQSLimits(new QueueLimits())
            .withAWSRegion(region)
            .withAWSAccountId(accountId)
            .start()
            .waitUntilStarted()
            .localAddress();
    if (store.isDefined()) {
      Patterns.ask(store.get(), new QueueEvent.Restore(manager), PATIENCE)
          .toCompletableFuture()
          .get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
    }
    return new QueueEngine(
        actors,
        URI.create("http://127.0.0.1:" + address.getPort()),
        key,
        keptAttributes,
        directory.isEmpty()
            ? Optional.empty()
            : Optional.of(DriverManager.getConnection(url(directory.get()), "", "")),
        clock,
        region,
        accountId);
  }

  /** Serves {@code sqs}. */
  public HttpHandler handler() {
    return new QueueApi(
        new Forwarder(
            endpoint, key, call -> database.filter(kept -> changes(call)).ifPresent(this::flush)),
        "http://elasticmq:1/" + accountId + "/",
        "https://sqs." + region + ".amazonaws.com/" + accountId + "/",
        keptAttributes,
        clock);
  }

  /** Where the engine listens, to whoever has its key. */
  URI endpoint() {
    return endpoint;
  }

  /** The policy of a queue, if it has one. */
  public Optional<String> policy(String queue) {
    return Optional.ofNullable(keptAttributes.of(queue).get(QueueApi.POLICY))
        .filter(policy -> !policy.isEmpty());
  }

  /** Whether a call changes what is to last; that a message was received need not. */
  private static boolean changes(Call call) {
    return !call.operation().matches("(Get|List|Receive).*");
  }

  @Override
  public void close() {
    database.ifPresent(QueueEngine::close);
    // The HTTP server would wait for its long polls; without its actors it does not.
    actors.terminate();
    actors
        .getWhenTerminated()
        .toCompletableFuture()
        .orTimeout(PATIENCE.toSeconds(), TimeUnit.SECONDS)
        .join();
  }

  private static SqlQueuePersistenceConfig storage(Path directory) {
    return new SqlQueuePersistenceConfig(true, "org.h2.Driver", url(directory), "", "", false);
  }

  /**
   * Writes what was committed to the file, so that it survives the end of this process. The
   * database would do so twice a second; a commit does not wait for it.
   */
  private synchronized void flush(Connection connection) {
    try (Statement statement = connection.createStatement()) {
      var unused = statement.execute("CHECKPOINT");
    } catch (SQLException e) {
      throw new IllegalStateException("The queues' database cannot write its file", e);
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException e) {
      throw new IllegalStateException("The queues' database does not close", e);
    }
  }

  private static String url(Path directory) {
    return "jdbc:h2:" + directory.toAbsolutePath().resolve("queues");
  }
}
