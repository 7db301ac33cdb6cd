package dev.tollgate.league.stores;

import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.ConsumptionProbe;
import io.github.bucket4j.TimeMeter;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ClientSideConfig;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.dynamodb.v1.DynamoDBProxyManager;
import io.github.bucket4j.redis.jedis.cas.JedisBasedProxyManager;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.function.Function;

/**
 * bucket4j with greedy refill and its own stores: each claim reads the bucket, and replaces it if
 * it has not changed meanwhile. Both stores use the caller's clock, as they do by default, here in
 * nanoseconds.
 */
final class Bucket4j<K> implements StoredLimiter {
  private final ProxyManager<K> buckets;
  private final Function<String, K> keys;
  private final Runnable store;

  private Bucket4j(ProxyManager<K> buckets, Function<String, K> keys, Runnable store) {
    this.buckets = buckets;
    this.keys = keys;
    this.store = store;
  }

  /** {@code JedisBasedProxyManager}, without expiry, on a Redis server. */
  static StoredLimiter onRedis(InstantSource clock) {
    RedisStore redis = RedisStore.start();
    return new Bucket4j<>(
        JedisBasedProxyManager.builderFor(redis.pool())
            .withClientSideConfig(config(clock))
            .withExpirationStrategy(ExpirationAfterWriteStrategy.none())
            .build(),
        key -> key.getBytes(StandardCharsets.UTF_8),
        redis::close);
  }

  /** {@code DynamoDBProxyManager} on DynamoDB Local. */
  static StoredLimiter onDynamoDb(InstantSource clock) {
    DynamoDbStore store = DynamoDbStore.start();
    AmazonDynamoDB client = store.client();
    return new Bucket4j<>(
        DynamoDBProxyManager.stringKey(client, DynamoDbStore.TABLE, config(clock)),
        key -> key,
        store::close);
  }

  private static ClientSideConfig config(InstantSource clock) {
    return ClientSideConfig.getDefault().withClientClock(new Meter(clock));
  }

  @Override
  public StoredBucket open(String key, long tokens, Duration per, long capacity) {
    BucketConfiguration configuration =
        BucketConfiguration.builder()
            .addLimit(limit -> limit.capacity(capacity).refillGreedy(tokens, per))
            .build();
    return count -> {
      // A proxy of its own for each claim, so that the store alone knows the bucket.
      ConsumptionProbe probe =
          buckets
              .builder()
              .build(keys.apply(key), () -> configuration)
              .tryConsumeAndReturnRemaining(count);
      return new Decision(probe.isConsumed(), Duration.ofNanos(probe.getNanosToWaitForRefill()));
    };
  }

  @Override
  public void close() {
    store.run();
  }

  private record Meter(InstantSource clock) implements TimeMeter {
    @Override
    public long currentTimeNanos() {
      return clock.instant().getEpochSecond() * 1_000_000_000 + clock.instant().getNano();
    }

    @Override
    public boolean isWallClockBased() {
      return true;
    }
  }
}
