package dev.tollgate.producer;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.bucket.BucketFill;
import java.time.InstantSource;
import java.util.Map;

/** Fills the bucket that a schedule names, up to the minute that the schedule fired for. */
public final class TokenProducer implements RequestHandler<Map<String, String>, String> {
  private final BucketFill fill;

  /** The function as Lambda makes it. */
  public TokenProducer() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public TokenProducer(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).bucketFill());
  }

  TokenProducer(BucketFill fill) {
    this.fill = fill;
  }

  /**
   * Fills one bucket.
   *
   * @param input {@code tenantId}, {@code action}, {@code scheduledTime}
   * @return what was done, for the log
   * @throws InvalidValue if the input is wrong
   * @throws Unavailable if a service could not be asked. The schedule does not try again, for
   *     Lambda has accepted its event; the next minute's fill catches up, and nothing is minted
   *     twice
   */
  @Override
  public String handleRequest(Map<String, String> input, Context context) {
    FillRequest request = FillRequest.of(input);
    BucketFill.Filled filled = fill.fill(request.bucket(), request.scheduledTime());
    context.getLogger().log("filled " + request.bucket() + ": " + filled);
    return filled.toString();
  }
}
