package dev.tollgate.aws.tracing;

import java.time.Instant;

/** Times in segment documents: seconds since 1970 with six decimals. */
final class EpochSeconds {
  private static final int MICROS = 1_000_000;

  private EpochSeconds() {}

  static String of(Instant time) {
    String micros = Integer.toString(MICROS + time.getNano() / 1_000);
    return time.getEpochSecond() + "." + micros.substring(1);
  }
}
