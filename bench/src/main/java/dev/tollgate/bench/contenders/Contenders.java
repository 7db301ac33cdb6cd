package dev.tollgate.bench.contenders;

import dev.tollgate.client.TollgateClientBuilder;
import java.net.InetSocketAddress;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;
import redis.clients.jedis.JedisPoolConfig;

/** All contenders, and their names. */
public final class Contenders {
  /** Tollgate's client with its defaults. */
  public static final String QUIET = "Tollgate, quiet";

  /** Tollgate's client with {@code prefetch(10)}. */
  public static final String PREFETCHED = "Tollgate, prefetched";

  /** Tollgate's client, ten tokens a claim. */
  public static final String TEN = "Tollgate, ten";

  /** A conditional {@code UpdateItem}, with which all others are compared. */
  public static final String UPDATE_ITEM = "conditional UpdateItem";

  /** The control: it admits too many. */
  public static final String CHECK_THEN_ACT = "read, then write (control)";

  /** bucket4j on DynamoDB. */
  public static final String BUCKET4J_DYNAMODB = "bucket4j on DynamoDB";

  /** bucket4j on Redis. */
  public static final String BUCKET4J_REDIS = "bucket4j on Redis";

  /** A Lua script in Redis. */
  public static final String LUA = "Lua GCRA on Redis";

  /** resilience4j's rate limiter. */
  public static final String RESILIENCE4J = "resilience4j, in process";

  /** Guava's rate limiter. */
  public static final String GUAVA = "Guava, in process";

  /** The contenders that use Tollgate. */
  public static final List<String> TOLLGATE = List.of(QUIET, PREFETCHED, TEN);

  /** The contenders that use Redis. */
  public static final List<String> ON_REDIS = List.of(BUCKET4J_REDIS, LUA);

  /** All contenders, in the order of the tables. */
  public static final List<String> NAMES =
      List.of(
          QUIET,
          PREFETCHED,
          TEN,
          UPDATE_ITEM,
          BUCKET4J_DYNAMODB,
          BUCKET4J_REDIS,
          LUA,
          RESILIENCE4J,
          GUAVA,
          CHECK_THEN_ACT);

  /** Tokens of a claim, or in the hand. */
  public static final int TOKENS = 10;

  private static final int CONNECTIONS = 64;

  private Contenders() {}

  /**
   * Opens all contenders.
   *
   * @param environment of a program that claims tokens; its endpoint is the relay
   * @param redis the relay in front of Redis; empty leaves its contenders out
   */
  public static List<Contender> open(
      PeerTable environment,
      TenantBuckets buckets,
      Optional<InetSocketAddress> redis,
      InstantSource clock) {
    List<Contender> all = new ArrayList<>();
    all.add(new TollgateLimiters(QUIET, 1, environment, buckets, builder -> builder));
    all.add(new TollgateLimiters(PREFETCHED, 1, environment, buckets, Contenders::prefetched));
    all.add(new TollgateLimiters(TEN, TOKENS, environment, buckets, builder -> builder));
    all.add(TableLimiters.conditional(environment, clock));
    all.add(Bucket4jLimiters.onDynamoDb(environment));
    redis.ifPresent(
        address -> {
          all.add(Bucket4jLimiters.onRedis(pool(address)));
          all.add(new LuaLimiters(pool(address)));
        });
    all.add(InProcessLimiters.resilience4j());
    all.add(InProcessLimiters.guava());
    all.add(TableLimiters.checkThenAct(environment, clock));
    return List.copyOf(all);
  }

  /** Whether a Redis server answers. */
  public static boolean answers(InetSocketAddress redis) {
    try (Jedis one = new Jedis(redis.getHostString(), redis.getPort())) {
      return one.ping().equals("PONG");
    } catch (RuntimeException e) {
      return false;
    }
  }

  private static TollgateClientBuilder prefetched(TollgateClientBuilder builder) {
    return builder.prefetch(TOKENS);
  }

  private static JedisPool pool(InetSocketAddress address) {
    JedisPoolConfig configuration = new JedisPoolConfig();
    configuration.setMaxTotal(CONNECTIONS);
    configuration.setMaxIdle(CONNECTIONS);
    // Otherwise a thread pings idle connections, which the relay would count.
    configuration.setTimeBetweenEvictionRuns(Duration.ofMillis(-1));
    return new JedisPool(configuration, address.getHostString(), address.getPort(), 10_000);
  }

  /** The index of a name in the tables. */
  public static int order(String name) {
    int index = NAMES.indexOf(name);
    if (index < 0) {
      throw new IllegalArgumentException(
          "contender: " + name + " (expected: one of " + Arrays.toString(NAMES.toArray()) + ")");
    }
    return index;
  }
}
