package dev.tollgate.bench.scale;

import dev.tollgate.bench.scale.Aws.Service;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.FillMode;
import dev.tollgate.core.bucket.Shard;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.bucket.fill.BucketMaintenance.MaintenanceResult;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.bucket.fill.ShardTurn;
import java.time.Duration;
import java.time.Instant;
import java.util.List;

/**
 * Fires the schedules of buckets or of shards every minute, as EventBridge Scheduler and Lambda's
 * asynchronous invocations do.
 */
final class Fills {
  private static final long MINUTE = 60 * SimulatedTime.SECOND;

  /** The age at which the schedule's event is dropped. */
  private static final long MAX_AGE = MINUTE;

  /** How long a turn of a shard may start fills: a time-out of 50 s without a margin of 15 s. */
  private static final long TURN_SECONDS = 35;

  private final World world;
  private final SimulatedTime time;
  private final boolean spread;
  private final List<BucketId> buckets;
  private final Samples lags = new Samples();
  private long fired;
  private long dropped;
  private long failed;

  /**
   * The fills of these buckets.
   *
   * @param spread whether each schedule fires in a second of its own; else all are due at the full
   *     minute, as fast as the quota allows
   */
  Fills(World world, boolean spread, List<BucketId> buckets) {
    this.world = world;
    this.time = world.time();
    this.spread = spread;
    this.buckets = List.copyOf(buckets);
    world.onTurn(
        next -> {
          time.join();
          time.at(time.now(), () -> turn(next));
        });
  }

  /** From the minute to the end of each fill. */
  Samples lags() {
    return lags;
  }

  long fired() {
    return fired;
  }

  /** Fills that were not started within a minute. */
  long dropped() {
    return dropped;
  }

  /** Fills that failed or could not count the tokens. */
  long failed() {
    return failed;
  }

  /** Fires the schedules of each minute. */
  void start(FillMode mode, Runnable before) {
    time.at(
        (time.now() / MINUTE + 1) * MINUTE,
        () -> {
          before.run();
          if (mode == FillMode.PRODUCER) {
            fireAll(time.now());
          } else {
            Shard.all().forEach(shard -> turn(ShardTurn.whole(shard, time.instant())));
          }
          start(mode, before);
        });
  }

  private void fireAll(long minute) {
    int count = buckets.size();
    int first = count == 0 ? 0 : world.aws().random().nextInt(count);
    long perSecond =
        spread
            ? Math.min(Service.SCHEDULES.perSecond(), (count + 59) / 60)
            : Service.SCHEDULES.perSecond();
    for (int second = 0; second < 60; second++) {
      long from = second * perSecond;
      long to = Math.min(count, from + perSecond);
      for (long i = from; i < to; i++) {
        BucketId bucket = buckets.get((int) (spread ? i : (first + i) % count));
        long at =
            minute + second * SimulatedTime.SECOND + (i - from) * SimulatedTime.SECOND / perSecond;
        time.at(at, () -> fire(bucket, minute));
      }
    }
    dropped += Math.max(0, count - 60 * perSecond);
  }

  private void fire(BucketId bucket, long minute) {
    world.aws().quota(Service.SCHEDULES).take(time.now(), 1);
    world.aws().charge("schedule-invocation", 1);
    fired++;
    time.at(
        time.now() + Latency.OTHER.draw(world.aws().random()),
        () -> invoke(bucket, minute, time.now(), SimulatedTime.SECOND));
  }

  private void invoke(BucketId bucket, long minute, long asked, long pause) {
    long end =
        world
            .producer()
            .invoke(
                process -> {
                  try {
                    MaintenanceResult result =
                        process
                            .code()
                            .ofBuckets()
                            .maintain(bucket, time.instant().plusSeconds(TURN_SECONDS));
                    time.join();
                    if (result.fill() instanceof Skipped) {
                      failed++;
                    } else {
                      lags.add(time.now() - minute);
                    }
                  } catch (Unavailable unavailable) {
                    failed++;
                  }
                });
    if (end >= 0) {
      return;
    }
    if (time.now() + pause - asked > MAX_AGE) {
      dropped++;
    } else {
      time.at(time.now() + pause, () -> invoke(bucket, minute, asked, 2 * pause));
    }
  }

  private void turn(ShardTurn turn) {
    Instant minute = turn.minute();
    world.aws().charge("schedule-invocation", 1);
    world
        .producer()
        .invoke(
            process -> {
              world.onFill(
                  () -> {
                    fired++;
                    lags.add(Duration.between(minute, time.instant()).toNanos() / 1_000);
                  });
              ShardMaintenance.Report report =
                  process
                      .code()
                      .ofShards()
                      .run(turn, time.instant().plusSeconds(TURN_SECONDS), line -> {});
              world.onFill(() -> {});
              failed += report.failed();
              if (report.rest() == ShardMaintenance.Rest.LEFT) {
                dropped++;
              }
            });
  }
}
