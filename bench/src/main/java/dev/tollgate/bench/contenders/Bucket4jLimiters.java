package dev.tollgate.bench.contenders;

import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import io.github.bucket4j.BucketConfiguration;
import io.github.bucket4j.distributed.ExpirationAfterWriteStrategy;
import io.github.bucket4j.distributed.proxy.ClientSideConfig;
import io.github.bucket4j.distributed.proxy.ProxyManager;
import io.github.bucket4j.dynamodb.v1.DynamoDBProxyManager;
import io.github.bucket4j.redis.jedis.cas.JedisBasedProxyManager;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.IntStream;
import redis.clients.jedis.JedisPool;

/** bucket4j, with its own stores: each decision reads the bucket and replaces it if unchanged. */
final class Bucket4jLimiters<K> implements Contender {
  private final String name;
  private final ProxyManager<K> buckets;
  private final Function<String, K> keys;
  private final Runnable closing;

  private Bucket4jLimiters(
      String name, ProxyManager<K> buckets, Function<String, K> keys, Runnable closing) {
    this.name = name;
    this.buckets = buckets;
    this.keys = keys;
    this.closing = closing;
  }

  static Contender onDynamoDb(PeerTable table) {
    AmazonDynamoDB client = table.firstClient();
    ProxyManager<String> buckets =
        DynamoDBProxyManager.stringKey(client, PeerTable.NAME, ClientSideConfig.getDefault());
    return new Bucket4jLimiters<>(
        Contenders.BUCKET4J_DYNAMODB, buckets, key -> key, client::shutdown);
  }

  static Contender onRedis(JedisPool pool) {
    return new Bucket4jLimiters<>(
        Contenders.BUCKET4J_REDIS,
        JedisBasedProxyManager.builderFor(pool)
            .withExpirationStrategy(ExpirationAfterWriteStrategy.none())
            .build(),
        key -> key.getBytes(StandardCharsets.UTF_8),
        pool::close);
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<Limiter> open(Purpose purpose, int count) {
    Terms terms = purpose.terms();
    BucketConfiguration configuration =
        BucketConfiguration.builder()
            .addLimit(
                limit ->
                    limit
                        .capacity(terms.capacity())
                        .refillGreedy(
                            1, Duration.ofNanos((long) (60_000_000_000L / terms.perMinute()))))
            .build();
    String prefix = UUID.randomUUID() + "-";
    return IntStream.range(0, count)
        .mapToObj(key -> buckets.builder().build(keys.apply(prefix + key), () -> configuration))
        .map(bucket -> (Limiter) () -> bucket.tryConsume(1))
        .toList();
  }

  @Override
  public void close() {
    closing.run();
  }
}
