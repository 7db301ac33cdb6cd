package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Locale;

/** Something that happens in a {@link History}. Any step can follow any other. */
public sealed interface Step {
  /** Time passes. */
  record Wait(Duration time) implements Step {
    @Override
    public String toString() {
      return "wait " + time;
    }
  }

  /** Something is done with a bucket. */
  sealed interface OfLimiter extends Step {}

  /** Some tokens are claimed, one after the other. */
  record Claims(int count, Use use) implements OfLimiter {
    @Override
    public String toString() {
      return count + " claims, each " + use;
    }
  }

  /** Several tokens are claimed at once: all of them or none. */
  record ClaimOf(long tokens, Use use) implements OfLimiter {
    @Override
    public String toString() {
      return "a claim for " + tokens + " tokens, " + use;
    }
  }

  /** Several callers claim several tokens each, at the same time. Nobody spends them. */
  record Together(int callers, long tokens) implements OfLimiter {
    @Override
    public String toString() {
      return callers + " claims for " + tokens + " tokens each, at the same time";
    }
  }

  /** Nobody claims for long, and then many do at the same time. */
  record IdleThenBurst(Duration sleep, int count) implements OfLimiter {
    @Override
    public String toString() {
      return "nobody claims for " + sleep + ", then " + count + " claim, each spent";
    }
  }

  /** A token that is held is spent, if any is; its lease may have ended. */
  record Spend(int which) implements OfLimiter {
    @Override
    public String toString() {
      return "spend lease " + which;
    }
  }

  /** A token that is held is given back, if any is; its lease may have ended. */
  record GiveBack(int which) implements OfLimiter {
    @Override
    public String toString() {
      return "give lease " + which + " back";
    }
  }

  /** The terms change. */
  record Retune(Terms terms) implements OfLimiter {
    @Override
    public String toString() {
      return "retune to " + terms;
    }
  }

  /** Tokens are claimed until one is refused; then the wait is as told, and one more claimed. */
  record AwaitRetry() implements OfLimiter {
    @Override
    public String toString() {
      return "claim until refused, wait as told, claim";
    }
  }

  /** What is done with a token that was claimed. */
  enum Use {
    /** It is spent at once. */
    SPENT,
    /** It is held: later spent or given back, or left until its lease ends. */
    HELD,
    /** It is given back at once. */
    GIVEN_BACK;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** Something is done with messages. */
  sealed interface OfProcessor extends Step {}

  /** Some messages are sent, each for the first time. */
  record Send(int count) implements OfProcessor {
    @Override
    public String toString() {
      return count + " sent";
    }
  }

  /** A message is sent again, if any was sent. */
  record SendAgain(int which) implements OfProcessor {
    @Override
    public String toString() {
      return "number " + which + " sent again";
    }
  }

  /** Something is done with what is counted. */
  sealed interface OfCounter extends Step {}

  /** Some open, one after the other. */
  record Open(int count) implements OfCounter {
    @Override
    public String toString() {
      return count + " open";
    }
  }

  /** One that is open closes, and its closing is told so often: 0 if it is lost. */
  record Close(int which, int told) implements OfCounter {
    @Override
    public String toString() {
      return "number " + which + " closes, told " + told + " times";
    }
  }

  /** A closing is told of one that closed long ago, or never was open. */
  record CloseUnknown(int which) implements OfCounter {
    @Override
    public String toString() {
      return "closing of one long gone told, number " + which;
    }
  }

  /** All that are open close at once, and it is told of none. */
  record CloseAll() implements OfCounter {
    @Override
    public String toString() {
      return "all close, told of none";
    }
  }
}
