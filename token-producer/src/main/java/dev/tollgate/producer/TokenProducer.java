package dev.tollgate.producer;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.MetricLine;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.audit.Author;
import dev.tollgate.core.audit.CurrentAuthor;
import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.fill.BucketFill.Skipped;
import dev.tollgate.core.bucket.fill.BucketMaintenance;
import dev.tollgate.core.bucket.fill.BucketMaintenance.MaintenanceResult;
import dev.tollgate.core.bucket.fill.ShardMaintenance;
import dev.tollgate.core.bucket.fill.ShardTurn;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The function that fills buckets: the bucket that a schedule names, all due buckets of a shard, or
 * the bucket that a claim found empty or hibernating.
 */
public final class TokenProducer implements RequestHandler<Map<String, String>, String> {
  /** The part of the invocation's time that is left for the last steps of fills. */
  private static final Duration MARGIN = Duration.ofSeconds(15);

  private final Function<String, BucketMaintenance> maintenance;
  private final BiFunction<BucketMaintenance, String, ShardMaintenance> shardMaintenance;
  private final CurrentAuthor author;
  private final InstantSource clock;

  /** The function as Lambda creates it. */
  public TokenProducer() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public TokenProducer(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), clock);
  }

  private TokenProducer(Wiring wiring, InstantSource clock) {
    this(wiring::maintenance, wiring::shardMaintenance, wiring.author(), clock);
  }

  /**
   * The function with its use cases.
   *
   * @param maintenance creates the maintenance of buckets, from the ARN that schedules invoke
   * @param shardMaintenance creates the maintenance of shards, from that of their buckets and the
   *     ARN that continues their turns
   * @param author names who makes changes of tenants; each invocation sets it
   */
  TokenProducer(
      Function<String, BucketMaintenance> maintenance,
      BiFunction<BucketMaintenance, String, ShardMaintenance> shardMaintenance,
      CurrentAuthor author,
      InstantSource clock) {
    this.maintenance = maintenance;
    this.shardMaintenance = shardMaintenance;
    this.author = author;
    this.clock = clock;
  }

  /**
   * Fills one bucket or the buckets of one shard.
   *
   * @param input {@code tenantId}, {@code action}, {@code scheduledTime}; or {@code shard}, {@code
   *     scheduledTime}, and {@code after} and {@code part} for the rest of a turn; or {@code
   *     tenantId}, {@code action} if a claim requests the fill
   * @return the result in words, as in the log
   * @throws InvalidValue if the input is invalid
   * @throws Unavailable if a service is unavailable. The schedule does not retry, because Lambda
   *     has accepted its event. The next minute's fill catches up, and no token is added twice.
   */
  @Override
  public String handleRequest(@Nullable Map<String, String> input, Context context) {
    FillRequest request =
        FillRequest.of(
            Optional.ofNullable(input)
                .orElseThrow(() -> new InvalidValue("input", "null", "a JSON object")));
    author.set(Author.of("tollgate:token-producer", context.getAwsRequestId()));
    // Schedules that the maintenance creates must invoke this function by the ARN of this
    // invocation.
    BucketMaintenance ofBucket = maintenance.apply(context.getInvokedFunctionArn());
    Instant end = clock.instant().plusMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    LambdaLogger log = context.getLogger();
    if (request instanceof FillRequest.OfBucket scheduled) {
      BucketId bucket = scheduled.bucket();
      MaintenanceResult result = ofBucket.maintain(bucket, end);
      String fill = FillText.of(bucket, result);
      // A skipped fill has no delay yet.
      log.log(
          result.fill() instanceof Skipped
              ? "tenant " + bucket.tenant() + ": " + fill
              : MetricLine.fillDelay(
                  clock.instant(), scheduled.through(), Optional.of(bucket.tenant()), fill));
      return fill;
    }
    if (request instanceof FillRequest.ByClaim claimed) {
      BucketId bucket = claimed.bucket();
      String fill = FillText.of(bucket, ofBucket.maintainOnRequest(bucket, end));
      log.log("tenant " + bucket.tenant() + ": " + fill + ", requested by a claim");
      return fill;
    }
    ShardTurn turn = ((FillRequest.OfShard) request).turn();
    ShardMaintenance.Report report =
        shardMaintenance
            .apply(ofBucket, context.getInvokedFunctionArn())
            .run(turn, end, line -> log.log(LogText.lines(line) + "\n"));
    String fill = FillText.of(turn, report);
    // Another invocation ends the work of the schedule's minute, and logs the delay.
    log.log(
        report.rest() == ShardMaintenance.Rest.HANDED_OVER
            ? fill
            : MetricLine.fillDelay(clock.instant(), turn.minute(), Optional.empty(), fill));
    return fill;
  }
}
