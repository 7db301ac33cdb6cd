package dev.tollgate.lawbook;

import java.time.Duration;
import java.util.Locale;

/** A step of a {@link History}. Any step can follow any other. */
public sealed interface Step {
  /** Time passes. */
  record Wait(Duration time) implements Step {
    @Override
    public String toString() {
      return "wait " + time;
    }
  }

  /** A step of a limiter's history. */
  sealed interface OfLimiter extends Step {}

  /** Several claims for one token each, one after the other. */
  record Claims(int count, Use use) implements OfLimiter {
    @Override
    public String toString() {
      return count + " claims, each " + use;
    }
  }

  /** One claim for several tokens, all or none. */
  record ClaimOf(long tokens, Use use) implements OfLimiter {
    @Override
    public String toString() {
      return "a claim for " + tokens + " tokens, " + use;
    }
  }

  /** Concurrent claims for several tokens each, which are not spent. */
  record Together(int callers, long tokens) implements OfLimiter {
    @Override
    public String toString() {
      return callers + " claims for " + tokens + " tokens each, at the same time";
    }
  }

  /** A long time without claims, then many claims at the same time. */
  record IdleThenBurst(Duration idle, int count) implements OfLimiter {
    @Override
    public String toString() {
      return "no claims for " + idle + ", then " + count + " claims, each spent";
    }
  }

  /** Spends a held token, if there is one; its lease may have ended. */
  record Spend(int which) implements OfLimiter {
    @Override
    public String toString() {
      return "spend lease " + which;
    }
  }

  /** Gives a held token back, if there is one; its lease may have ended. */
  record GiveBack(int which) implements OfLimiter {
    @Override
    public String toString() {
      return "give lease " + which + " back";
    }
  }

  /** Changes the terms. */
  record Retune(Terms terms) implements OfLimiter {
    @Override
    public String toString() {
      return "retune to " + terms;
    }
  }

  /** Claims until refused, waits for the retry time, and claims once more. */
  record AwaitRetry() implements OfLimiter {
    @Override
    public String toString() {
      return "claim until refused, wait for the retry time, claim";
    }
  }

  /** What a caller does with a claimed token. */
  enum Use {
    /** Spends it at once. */
    SPENT,
    /** Holds it: a later step spends it or gives it back, or its lease ends. */
    HELD,
    /** Gives it back at once. */
    GIVEN_BACK;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }

  /** A step of a processor's history. */
  sealed interface OfProcessor extends Step {}

  /** Sends new messages. */
  record Send(int count) implements OfProcessor {
    @Override
    public String toString() {
      return "send " + count + " messages";
    }
  }

  /** Sends an earlier message again, if there is one. */
  record SendAgain(int which) implements OfProcessor {
    @Override
    public String toString() {
      return "send message " + which + " again";
    }
  }

  /** A step of a counter's history. */
  sealed interface OfCounter extends Step {}

  /** Opens several items, one after the other. */
  record Open(int count) implements OfCounter {
    @Override
    public String toString() {
      return "open " + count;
    }
  }

  /** Closes an open item, and reports the close this many times; 0 if the report is lost. */
  record Close(int which, int reports) implements OfCounter {
    @Override
    public String toString() {
      return "close number " + which + ", reported " + reports + " times";
    }
  }

  /** Reports a close of an item that closed long ago or was never open. */
  record CloseUnknown(int which) implements OfCounter {
    @Override
    public String toString() {
      return "report the close of an item that is not open, number " + which;
    }
  }

  /** Closes all items without a report. */
  record CloseAll() implements OfCounter {
    @Override
    public String toString() {
      return "close all items, without a report";
    }
  }

  /** A step of a line's history. */
  sealed interface OfLine extends Step {}

  /** New callers arrive, each within this many milliseconds. */
  record Arrive(int count, Manners manners, long within) implements OfLine {
    @Override
    public String toString() {
      return count + " " + manners + " callers within " + within + " ms";
    }
  }

  /** Changes the rate of a line. */
  record RetuneLine(Rate rate) implements OfLine {
    @Override
    public String toString() {
      return "retune to " + rate;
    }
  }

  /** A step of a quota's history. */
  sealed interface OfQuota extends Step {}

  /** Waits until this long after the next period begins; before it, if negative. */
  record AwaitPeriod(Duration offset) implements OfQuota {
    @Override
    public String toString() {
      return "wait until " + offset + " after the next period begins";
    }
  }

  /** Changes the capacity of a quota. */
  record RetuneQuota(long capacity) implements OfQuota {
    @Override
    public String toString() {
      return "retune to " + capacity;
    }
  }

  /** When a caller comes back after a refusal. */
  enum Manners {
    /** When it was told, in whole seconds. */
    POLITE,
    /** Up to a minute after it was told. */
    LATE,
    /** Every second or two, whatever it was told. */
    IMPOLITE,
    /** Never. */
    NO_SHOW;

    @Override
    public String toString() {
      return name().toLowerCase(Locale.ROOT).replace('_', ' ');
    }
  }
}
