package dev.tollgate.league.stores;

import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import redis.clients.jedis.Jedis;

/**
 * GCRA in a script of Redis, with the arithmetic of redis-gcra: seconds since 2017 in Lua's
 * numbers, which are {@code double}s, and tokens left, rounded to whole ones. The script gets the
 * time that {@code TIME} would answer, in seconds and microseconds. Its keys do not expire;
 * redis-gcra's expire when the bucket is full, as a new one is.
 */
final class GcraScript implements StoredLimiter {
  private static final String SCRIPT =
      """
      local now = tonumber(ARGV[1]) - 1483228800 + tonumber(ARGV[2]) / 1000000
      local interval = tonumber(ARGV[4]) / tonumber(ARGV[3])
      local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
      local following = arrival + interval * tonumber(ARGV[6])
      local early = following - interval * tonumber(ARGV[5]) - now
      if math.floor(0.5 - early / interval) < 0 then
        return tostring(early)
      end
      redis.call('SET', KEYS[1], following)
      return ''
      """;

  private final RedisStore redis = RedisStore.start();
  private final String script;
  private final InstantSource clock;

  GcraScript(InstantSource clock) {
    this.clock = clock;
    try (Jedis one = redis.pool().getResource()) {
      script = one.scriptLoad(SCRIPT);
    }
  }

  @Override
  public StoredBucket open(String key, long tokens, Duration per, long capacity) {
    String period = Double.toString(per.toNanos() / 1e9);
    return count -> {
      List<String> arguments =
          List.of(
              Long.toString(clock.instant().getEpochSecond()),
              Integer.toString(clock.instant().getNano() / 1_000),
              Long.toString(tokens),
              period,
              Long.toString(capacity),
              Long.toString(count));
      try (Jedis one = redis.pool().getResource()) {
        String early = (String) one.evalsha(script, List.of(key), arguments);
        // Rounded up to milliseconds, as a caller that sleeps does.
        return early.isEmpty()
            ? new Decision(true, Duration.ZERO)
            : new Decision(
                false, Duration.ofMillis((long) Math.ceil(Double.parseDouble(early) * 1_000)));
      }
    };
  }

  @Override
  public void close() {
    redis.close();
  }
}
