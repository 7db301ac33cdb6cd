package dev.tollgate.bench.contenders;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.JedisPool;

/** A token bucket as one number (GCRA), changed by a script in Redis with the server's clock. */
final class LuaLimiters implements Contender {
  private static final String SCRIPT =
      """
      local time = redis.call('TIME')
      local now = time[1] * 1000000 + time[2]
      local interval = tonumber(ARGV[1])
      local arrival = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), now)
      if arrival > now + tonumber(ARGV[2]) - interval then
        return 0
      end
      redis.call('SET', KEYS[1], string.format('%.0f', arrival + interval))
      return 1
      """;

  private final JedisPool pool;
  private final String script;

  LuaLimiters(JedisPool pool) {
    this.pool = pool;
    try (Jedis redis = pool.getResource()) {
      script = redis.scriptLoad(SCRIPT);
    }
  }

  @Override
  public String name() {
    return Contenders.LUA;
  }

  @Override
  public List<Limiter> open(Purpose purpose, int keys) {
    long interval = (long) (TimeUnit.MINUTES.toMicros(1) / purpose.terms().perMinute());
    List<String> terms =
        List.of(Long.toString(interval), Long.toString(interval * purpose.terms().capacity()));
    String prefix = UUID.randomUUID() + "-";
    return IntStream.range(0, keys).mapToObj(key -> limiter(List.of(prefix + key), terms)).toList();
  }

  private Limiter limiter(List<String> key, List<String> terms) {
    return () -> {
      try (Jedis redis = pool.getResource()) {
        return redis.evalsha(script, key, terms).equals(1L);
      }
    };
  }

  @Override
  public void close() {
    pool.close();
  }
}
