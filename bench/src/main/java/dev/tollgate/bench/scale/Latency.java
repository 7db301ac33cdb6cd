package dev.tollgate.bench.scale;

import java.util.Random;

/** How long requests take: linear between these points. */
enum Latency {
  /** Requests to SQS. */
  SQS(
      "SQS",
      "measured under millions of calls a day: Hunter Fernandes, SQS's Slow Tail Latency",
      new double[] {0, 0.5, 0.9, 0.97, 0.999, 1},
      new double[] {2, 6, 40, 95, 1_000, 5_000}),

  /** Requests to DynamoDB. */
  DYNAMODB(
      "DynamoDB",
      "assumed: `docs/prices.yaml` has the middle; the tail is not measured",
      new double[] {0, 0.5, 0.9, 0.99, 0.999, 1},
      new double[] {2, 5, 9, 25, 100, 1_000}),

  /** Requests to STS, API Gateway, Lambda and Scheduler. */
  OTHER(
      "STS, API Gateway, Lambda, Scheduler",
      "assumed",
      new double[] {0, 0.5, 0.9, 0.99, 0.999, 1},
      new double[] {5, 15, 30, 80, 300, 2_000}),

  /** The restoration of a function from its snapshot. */
  RESTORE(
      "restoration of a function",
      "assumed",
      new double[] {0, 0.5, 0.9, 0.99, 0.999, 1},
      new double[] {200, 400, 700, 1_400, 1_500, 2_000});

  private final String label;
  private final String source;
  private final double[] quantiles;
  private final double[] millis;

  Latency(String label, String source, double[] quantiles, double[] millis) {
    this.label = label;
    this.source = source;
    this.quantiles = quantiles;
    this.millis = millis;
  }

  String label() {
    return label;
  }

  String source() {
    return source;
  }

  /** A random latency in microseconds. */
  long draw(Random random) {
    return (long) (millisAt(random.nextDouble()) * 1_000);
  }

  /** The milliseconds that this share of the requests does not exceed. */
  double millisAt(double quantile) {
    int i = 1;
    while (quantile > quantiles[i]) {
      i++;
    }
    double part = (quantile - quantiles[i - 1]) / (quantiles[i] - quantiles[i - 1]);
    return millis[i - 1] + part * (millis[i] - millis[i - 1]);
  }
}
