package dev.tollgate.bench.scale;

import dev.tollgate.core.Page;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.Shard;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Lists the due buckets of a shard once a minute, as an index that lags; its port sorts all. */
final class DueIndex {
  private static final int ALL = 10_000_000;

  private final Buckets rows;
  private final SimulatedTime time;
  private final Map<Shard, List<BucketId>> due = new HashMap<>();
  private long minute = -1;

  DueIndex(Buckets rows, SimulatedTime time) {
    this.rows = rows;
    this.time = time;
  }

  /** The rows, with the index. */
  Buckets buckets() {
    return (Buckets)
        Proxy.newProxyInstance(
            Buckets.class.getClassLoader(),
            new Class<?>[] {Buckets.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("due")) {
                return page(
                    (Shard) arguments[0],
                    (Instant) arguments[1],
                    (Optional<?>) arguments[2],
                    (int) arguments[3]);
              }
              try {
                return method.invoke(rows, arguments);
              } catch (InvocationTargetException thrown) {
                throw thrown.getCause();
              }
            });
  }

  private Page<BucketId> page(Shard shard, Instant now, Optional<?> cursor, int max) {
    long current = time.now() / (60 * SimulatedTime.SECOND);
    if (current != minute) {
      due.clear();
      minute = current;
    }
    List<BucketId> all =
        due.computeIfAbsent(shard, one -> rows.due(one, now, Optional.empty(), ALL).items());
    int from = cursor.map(Object::toString).map(Integer::parseInt).orElse(0);
    int to = Math.min(all.size(), from + max);
    return new Page<>(
        List.copyOf(all.subList(from, to)),
        to == all.size() ? Optional.empty() : Optional.of(Integer.toString(to)));
  }
}
