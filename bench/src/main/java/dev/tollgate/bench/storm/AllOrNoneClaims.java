package dev.tollgate.bench.storm;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.Measurement;
import dev.tollgate.bench.Row;
import dev.tollgate.bench.Stopwatch;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.client.Claim;
import dev.tollgate.client.TokenBucket;
import dev.tollgate.client.TollgateClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.stream.Stream;

/** Four callers at once claim 15 of a bucket's 20 tokens, all or none. */
final class AllOrNoneClaims implements Measurement {
  private static final int CALLERS = 4;
  private static final int TOKENS = 15;
  private static final int RUNS = 3;
  private static final String ACTION = "send-email";
  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0,
       "buckets": {"send-email": {"ratePerMinute": 1, "capacity": 20}},
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60}}""";

  /** The result of a claim, and how long it took. */
  private record Answer(Claim claim, Duration took) {}

  @Override
  public Duration timeout() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Stopwatch stopwatch) throws InterruptedException {
    String tier = deployment.tier("claims", TIER);
    StringBuilder found = new StringBuilder();
    try (Clients clients = new Clients(CALLERS);
        TollgateClient tollgate =
            TollgateClient.builder().environment(deployment.claimsEnvironment()).build()) {
      for (int run = 0; run <= RUNS; run++) {
        TokenBucket bucket = tollgate.bucket(deployment.tenant("claims-" + run, tier).id(), ACTION);
        CyclicBarrier start = new CyclicBarrier(CALLERS);
        Callable<Answer> caller =
            () -> {
              start.await();
              Duration started = stopwatch.elapsed();
              Claim claim = bucket.tryClaim(TOKENS);
              return new Answer(claim, stopwatch.elapsed().minus(started));
            };
        List<Answer> answers = clients.run(Stream.generate(() -> caller).limit(CALLERS).toList());
        // The first run is a warm-up: it loads classes and opens connections.
        if (run > 0) {
          found.append(run == 1 ? "" : "; ").append(summary(answers));
        }
      }
    }
    return List.of(
        new Row(
            "%d callers of `tryClaim(%d)` on 20 tokens".formatted(CALLERS, TOKENS),
            found.toString(),
            "one granted, the others denied within 100 ms"));
  }

  private static String summary(List<Answer> answers) {
    return "%d granted, %d denied, %d undecided, the slowest refusal after %d ms"
        .formatted(
            count(answers, Claim.Granted.class),
            count(answers, Claim.Denied.class),
            count(answers, Claim.Undecided.class),
            answers.stream()
                .filter(answer -> !(answer.claim() instanceof Claim.Granted))
                .mapToLong(answer -> answer.took().toMillis())
                .max()
                .orElse(0));
  }

  private static long count(List<Answer> answers, Class<? extends Claim> kind) {
    return answers.stream().map(Answer::claim).filter(kind::isInstance).count();
  }
}
