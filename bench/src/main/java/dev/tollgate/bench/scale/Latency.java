package dev.tollgate.bench.scale;

import java.util.Random;

/** How long requests take: linear between these points. */
enum Latency {
  /**
   * SQS as measured under millions of calls a day: 6 ms on a warm connection, 40 ms at p90, 95 ms
   * at p97, a second or more at the far end (Hunter Fernandes, "SQS's Slow Tail Latency").
   */
  SQS(new double[] {0, 0.5, 0.9, 0.97, 0.999, 1}, new double[] {2, 6, 40, 95, 1_000, 5_000}),

  /** An assumption: docs/prices.yaml has 5 to 8 ms in the middle; nobody measured the tail. */
  DYNAMODB(new double[] {0, 0.5, 0.9, 0.99, 0.999, 1}, new double[] {2, 5, 9, 25, 100, 1_000}),

  /** An assumption: AssumeRole, and the requests to API Gateway, Lambda and Scheduler. */
  OTHER(new double[] {0, 0.5, 0.9, 0.99, 0.999, 1}, new double[] {5, 15, 30, 80, 300, 2_000}),

  /** An assumption: how long a function takes to be restored from its snapshot. */
  RESTORE(new double[] {0, 0.5, 0.9, 1}, new double[] {200, 400, 700, 1_500});

  private final double[] quantiles;
  private final double[] millis;

  Latency(double[] quantiles, double[] millis) {
    this.quantiles = quantiles;
    this.millis = millis;
  }

  /** A random latency in microseconds. */
  long draw(Random random) {
    double quantile = random.nextDouble();
    int i = 1;
    while (quantile > quantiles[i]) {
      i++;
    }
    double part = (quantile - quantiles[i - 1]) / (quantiles[i] - quantiles[i - 1]);
    return (long) ((millis[i - 1] + part * (millis[i] - millis[i - 1])) * 1_000);
  }
}
