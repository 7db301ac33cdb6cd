package dev.tollgate.client;

import dev.tollgate.core.bucket.BucketId;
import dev.tollgate.core.bucket.claim.ClaimResult.Denied;
import dev.tollgate.core.bucket.claim.ClaimResult.Shortfall;
import dev.tollgate.core.bucket.claim.ClaimResult.Undecided;
import java.time.Duration;

/** Tells a listener what comes of calls. */
final class ClaimEvents {
  private static final System.Logger LOG = System.getLogger(ClaimListener.class.getName());

  private final ClaimListener listener;

  ClaimEvents(ClaimListener listener) {
    this.listener = listener;
  }

  /** A call that starts now. */
  Call start(BucketId bucket) {
    return new Call(bucket);
  }

  /** A call under way. */
  final class Call {
    private final BucketId bucket;
    private final long start = System.nanoTime();

    private Call(BucketId bucket) {
      this.bucket = bucket;
    }

    void claimed(int tokens) {
      tell(() -> listener.claimed(call(tokens)));
    }

    void reserved(int tokens) {
      tell(() -> listener.reserved(call(tokens)));
    }

    void settled(int tokens, Settlement settlement) {
      tell(() -> listener.settled(call(tokens), settlement));
    }

    void returned(int tokens) {
      tell(() -> listener.returned(call(tokens)));
    }

    /** Returns the shortfall as applications see it. */
    Claim.Shortfall refused(int tokens, Shortfall shortfall) {
      if (shortfall instanceof Denied denied) {
        tell(() -> listener.denied(call(tokens), denied.retryAt()));
        return new Claim.Denied(denied.retryAt());
      }
      String cause = ((Undecided) shortfall).cause();
      tell(() -> listener.undecided(call(tokens), cause));
      return new Claim.Undecided(cause);
    }

    private ClaimListener.Call call(int tokens) {
      return new ClaimListener.Call(
          bucket.tenant().value(),
          bucket.action().value(),
          tokens,
          Duration.ofNanos(System.nanoTime() - start));
    }

    /** A caller that were thrown what the listener throws would not know what it was given. */
    private static void tell(Runnable event) {
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
