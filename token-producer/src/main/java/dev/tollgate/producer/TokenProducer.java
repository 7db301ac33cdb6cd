package dev.tollgate.producer;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.fill.FillTurn;
import dev.tollgate.core.bucket.fill.ShardTurn;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Fills the bucket that a schedule names, or all the buckets of a shard, or the one that a claim
 * found empty or asleep.
 */
public final class TokenProducer implements RequestHandler<Map<String, String>, String> {
  /** No turn is begun when less than this is left: a slow one may take as long. */
  private static final Duration MARGIN = Duration.ofSeconds(15);

  private final Function<String, FillTurn> turns;
  private final Function<FillTurn, ShardTurn> shardTurns;
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
    this(wiring::turns, wiring::shardTurn, clock);
  }

  /**
   * The function with its use cases.
   *
   * @param turns what is done for a bucket, by the ARN that schedules are to invoke
   * @param shardTurns what is done for a shard
   */
  TokenProducer(
      Function<String, FillTurn> turns,
      Function<FillTurn, ShardTurn> shardTurns,
      InstantSource clock) {
    this.turns = turns;
    this.shardTurns = shardTurns;
    this.clock = clock;
  }

  /**
   * Fills.
   *
   * @param input {@code tenantId}, {@code action}, {@code scheduledTime}; or {@code shard}, {@code
   *     scheduledTime}; or {@code tenantId}, {@code action} if a claim requests the fill
   * @return what was done, for the log
   * @throws InvalidValue if the input is wrong
   * @throws Unavailable if a service could not be asked. The schedule does not try again, for
   *     Lambda has accepted its event; the next minute's fill catches up, and nothing is minted
   *     twice
   */
  @Override
  public String handleRequest(@Nullable Map<String, String> input, Context context) {
    FillRequest request =
        FillRequest.of(
            Optional.ofNullable(input)
                .orElseThrow(() -> new InvalidValue("input", "null", "a JSON object")));
    String done = request + ": " + answer(request, context);
    context.getLogger().log(done);
    return done;
  }

  private Object answer(FillRequest request, Context context) {
    // What schedules are to invoke is this: it is told how it was invoked.
    FillTurn turn = turns.apply(context.getInvokedFunctionArn());
    if (request instanceof FillRequest.OfBucket scheduled) {
      return turn.take(scheduled.bucket());
    }
    if (request instanceof FillRequest.ByClaim claimed) {
      return turn.takeOnRequest(claimed.bucket());
    }
    FillRequest.OfShard shared = (FillRequest.OfShard) request;
    Instant end = clock.instant().plusMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    return shardTurns
        .apply(turn)
        .take(shared.shard(), end, line -> context.getLogger().log(LogText.lines(line) + "\n"));
  }
}
