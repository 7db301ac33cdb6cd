package dev.tollgate.bench.contenders;

import dev.tollgate.bench.Clients;
import dev.tollgate.bench.client.Deployment;
import dev.tollgate.bench.contenders.Contender.Purpose;
import dev.tollgate.bench.contenders.Contender.Terms;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Tenants of Tollgate with a bucket for each measurement. One tenant has the buckets that are
 * measured alone; each of the others has one of the buckets that are measured side by side.
 */
public final class TenantBuckets {
  private static final String EMPTY = "empty";

  /** A few at a time: the local cloud mints their tokens meanwhile. */
  private static final int AT_ONCE = 4;

  private static final String TIER =
      """
      {"isolation": "POOL", "hibernateAfterMinutes": 0, "buckets": {%s},
       "limits": {"tenantPerMinute": 60, "sessionPerMinute": 60, "connectionsPerSession": 10,
                  "tenantConnections": 10, "sessionTTL": 200, "messagesPerMinute": 60}}""";

  private final String alone;
  private final List<String> others;

  private TenantBuckets(String alone, List<String> others) {
    this.alone = alone;
    this.others = others;
  }

  /** A bucket: a tenant's id, and an action. */
  record Name(String tenantId, String action) {}

  /**
   * Onboards the tenants, and waits until their buckets are full.
   *
   * @param keys the buckets that are measured side by side
   * @param aloneTokens the tokens that each contender takes from a bucket that is measured alone
   * @param eachTokens the tokens that each contender takes from each of the others
   */
  public static TenantBuckets onboard(
      Deployment deployment, int keys, Map<String, Long> aloneTokens, Map<String, Long> eachTokens)
      throws InterruptedException {
    Map<String, Terms> aloneTerms = plenty(aloneTokens);
    aloneTokens
        .keySet()
        .forEach(name -> aloneTerms.put(action(name, Purpose.DRAINED), Purpose.DRAINED.terms()));
    String first = deployment.tier("alone", tier(aloneTerms));
    String second = deployment.tier("each", tier(plenty(eachTokens)));
    List<Callable<String>> onboarding = new ArrayList<>();
    onboarding.add(() -> deployment.tenant("alone", first).id());
    IntStream.range(0, keys)
        .forEach(key -> onboarding.add(() -> deployment.tenant("each" + key, second).id()));
    try (Clients clients = new Clients(AT_ONCE)) {
      List<String> ids = clients.run(onboarding);
      return new TenantBuckets(ids.get(0), ids.subList(1, ids.size()));
    }
  }

  private static Map<String, Terms> plenty(Map<String, Long> tokens) {
    Map<String, Terms> terms = new LinkedHashMap<>();
    terms.put(EMPTY, Purpose.EMPTY.terms());
    tokens.forEach(
        (name, count) ->
            terms.put(
                action(name, Purpose.PLENTY),
                new Terms(count, Purpose.PLENTY.terms().perMinute())));
    return terms;
  }

  private static String tier(Map<String, Terms> buckets) {
    return TIER.formatted(
        buckets.entrySet().stream()
            .map(
                bucket ->
                    String.format(
                        Locale.ROOT,
                        "\"%s\": {\"ratePerMinute\": %s, \"capacity\": %d}",
                        bucket.getKey(),
                        bucket.getValue().perMinute(),
                        bucket.getValue().capacity()))
            .collect(Collectors.joining(", ")));
  }

  /** The bucket of a key. */
  Name of(String contender, Purpose purpose, int keys, int key) {
    return new Name(keys == 1 ? alone : others.get(key), action(contender, purpose));
  }

  private static String action(String contender, Purpose purpose) {
    String last = contender.substring(contender.lastIndexOf(' ') + 1).replaceAll("[^a-z]", "");
    return switch (purpose) {
      case PLENTY -> "plenty-" + last;
      case EMPTY -> EMPTY;
      case DRAINED -> "drained-" + last;
    };
  }
}
