package dev.tollgate.client;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Shortfall;
import dev.tollgate.core.bucket.claim.ClaimResult.Undecided;
import java.time.Duration;
import java.time.InstantSource;

/** Reports calls and their results to a listener. */
final class ClaimEvents {
  private static final System.Logger LOG = System.getLogger(ClaimListener.class.getName());

  /** When a claim is repeated that was denied for lack of credentials. */
  private static final Duration RETRY = Duration.ofSeconds(1);

  private final ClaimListener listener;
  private final InstantSource clock;

  ClaimEvents(ClaimListener listener, InstantSource clock) {
    this.listener = listener;
    this.clock = clock;
  }

  /** Starts a call. */
  Call start(BucketId bucket) {
    return new Call(bucket);
  }

  /** A call in progress. */
  final class Call {
    private final BucketId bucket;
    private final long start = System.nanoTime();

    private Call(BucketId bucket) {
      this.bucket = bucket;
    }

    void claimed(int tokens) {
      report(() -> listener.claimed(call(tokens)));
    }

    void reserved(int tokens) {
      report(() -> listener.reserved(call(tokens)));
    }

    void settled(int tokens, Settlement settlement) {
      report(() -> listener.settled(call(tokens), settlement));
    }

    void returned(int tokens) {
      report(() -> listener.returned(call(tokens)));
    }

    /** Returns the shortfall as applications see it. */
    Claim.Shortfall refused(int tokens, Shortfall shortfall) {
      if (shortfall instanceof Denied denied) {
        report(() -> listener.denied(call(tokens), denied.retryAt()));
        return new Claim.Denied(
            denied.retryAt(), denied.place().map(place -> Place.of(bucket, place)));
      }
      Undecided undecided = (Undecided) shortfall;
      report(() -> listener.undecided(call(tokens), undecided.cause()));
      return undecided.isOutage()
          ? new Claim.Undecided(undecided.cause())
          : new Claim.Denied(clock.instant().plus(RETRY));
    }

    private ClaimListener.Call call(int tokens) {
      return new ClaimListener.Call(
          bucket.tenant().value(),
          bucket.action().value(),
          tokens,
          Duration.ofNanos(System.nanoTime() - start));
    }

    /**
     * Runs a listener's method and logs its exceptions. A rethrown exception would cost the caller
     * its tokens.
     */
    private static void report(Runnable event) {
      try {
        event.run();
      } catch (VirtualMachineError fatal) {
        throw fatal;
      } catch (Throwable failure) {
        LOG.log(System.Logger.Level.WARNING, "The claim listener failed", failure);
      }
    }
  }
}
