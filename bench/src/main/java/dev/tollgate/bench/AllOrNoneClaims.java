package dev.tollgate.bench;

import dev.tollgate.bench.client.Deployment;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
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

  /** What an application claims tokens with; used by several threads at once. */
  @FunctionalInterface
  interface Claimant {
    /** Claims all of the tokens or none. */
    Claimed tryClaim(String tenantId, String action, int tokens);
  }

  /** What came of a claim. */
  enum Claimed {
    GRANTED,
    DENIED,
    /** The bucket could not be asked. */
    UNDECIDED
  }

  /** What came of a claim, and how long it took. */
  private record Answer(Claimed claimed, Duration took) {}

  private final Optional<Claimant> claimant;

  /** The measurement, with the claimant if there is one. */
  AllOrNoneClaims(Optional<Claimant> claimant) {
    this.claimant = claimant;
  }

  @Override
  public Duration patience() {
    return Duration.ofMinutes(2);
  }

  @Override
  public List<Row> measure(Deployment deployment, Watch watch) throws InterruptedException {
    Claimant application =
        claimant.orElseThrow(() -> new IllegalStateException("no client that claims tokens"));
    String tier = deployment.tier("claims", TIER);
    StringBuilder found = new StringBuilder();
    try (Crowd crowd = new Crowd(CALLERS)) {
      for (int run = 0; run <= RUNS; run++) {
        String tenantId = deployment.tenant("claims-" + run, tier).id();
        CyclicBarrier start = new CyclicBarrier(CALLERS);
        Callable<Answer> caller =
            () -> {
              start.await();
              Duration asked = watch.elapsed();
              Claimed claimed = application.tryClaim(tenantId, ACTION, TOKENS);
              return new Answer(claimed, watch.elapsed().minus(asked));
            };
        List<Answer> answers = crowd.run(Stream.generate(() -> caller).limit(CALLERS).toList());
        // The first run loads classes and opens connections.
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
            count(answers, Claimed.GRANTED),
            count(answers, Claimed.DENIED),
            count(answers, Claimed.UNDECIDED),
            answers.stream()
                .filter(answer -> answer.claimed() != Claimed.GRANTED)
                .mapToLong(answer -> answer.took().toMillis())
                .max()
                .orElse(0));
  }

  private static long count(List<Answer> answers, Claimed claimed) {
    return answers.stream().filter(answer -> answer.claimed() == claimed).count();
  }
}
