package dev.tollgate.cli.prove;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Paths;
import dev.tollgate.cli.pacing.PacedApi;
import dev.tollgate.cli.verify.Deployment;
import dev.tollgate.cli.verify.HttpDeployment;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.cloudwatch.model.CloudWatchException;
import software.amazon.awssdk.services.cloudwatch.model.GetMetricDataResponse;
import software.amazon.awssdk.services.cloudwatch.model.MetricDataQuery;

/**
 * A minute of handshakes of awake tenants, evenly spread, each within the limits: so every one must
 * be admitted, and all fills must be in time beside them.
 */
final class LoadMinute implements Step {
  private static final String TIER = "prove-load";

  /** Below what the control plane's functions can start at once on a new account. */
  private static final double REQUESTS_PER_SECOND = 10;

  /** Of ten minutes with queues, schedules and fills, twice what they cost by docs/prices.yaml. */
  private static final int TENANTS_PER_CENT = 40;

  /** With a session each, twice what they cost by docs/prices.yaml. */
  private static final int HANDSHAKES_PER_CENT = 100;

  private static final Duration MINUTE = Duration.ofMinutes(1);

  /** CloudWatch shows metrics of Lambda and of log lines within two minutes, mostly. */
  private static final Duration METRICS_LATE = Duration.ofMinutes(3);

  private static final String NO_THROTTLES = "Lambda throttles no function";
  private static final String IN_TIME = "fills are in time";
  private static final String NO_METRICS = "a local cloud has no metrics";

  /** A fill that ends later is late: the bound of the alarm `fills-late`. */
  private static final double FILL_DELAY_MILLIS = 90_000;

  private static final int ADMITTED = 101;

  @Override
  public String name() {
    return "load";
  }

  @Override
  public String description() {
    return "Onboard tenants, and open sockets for a minute.";
  }

  @Override
  public int cents(Run.Settings settings) {
    return (settings.tenants() + TENANTS_PER_CENT - 1) / TENANTS_PER_CENT
        + (settings.handshakes() + HANDSHAKES_PER_CENT - 1) / HANDSHAKES_PER_CENT;
  }

  @Override
  public Duration usual(Run.Settings settings) {
    return Duration.ofSeconds(460 + settings.tenants() / (long) REQUESTS_PER_SECOND);
  }

  @Override
  public List<Finding> run(Run run) {
    List<String> tenants =
        IntStream.range(0, run.settings().tenants())
            .mapToObj("prove-load-%03d"::formatted)
            .toList();
    onboard(run, tenants);
    run.shell().printError("  Waiting two minutes for the first fills of the tenants.");
    run.shell().sleep(MINUTE.multipliedBy(2));
    List<String> sessions = sessions(run, tenants);
    Instant from = run.now();
    run.shell().printError("  Opening sockets for a minute.");
    Handshakes handshakes = handshakes(run, tenants, sessions);
    Instant to = run.now();
    List<Finding> findings = new ArrayList<>();
    findings.add(handshakes.allAdmitted());
    findings.add(Finding.holds("handshakes have a time", handshakes.times()));
    if (run.stacks().areLocal()) {
      findings.add(Finding.unknown(NO_THROTTLES, NO_METRICS));
      findings.add(Finding.unknown(IN_TIME, NO_METRICS));
    } else {
      run.shell().printError("  Waiting three minutes for CloudWatch's metrics.");
      run.shell().sleep(METRICS_LATE);
      findings.addAll(metrics(run, from, to));
    }
    return findings;
  }

  private static void onboard(Run run, List<String> tenants) {
    PacedApi control = new PacedApi(run.controlPlane(), REQUESTS_PER_SECOND, run.shell());
    int perTenant = 1 + run.settings().handshakes() / tenants.size();
    ObjectNode tier = Json.object().put("isolation", "POOL");
    tier.putObject("limits")
        .put("tenantPerMinute", Math.max(10, perTenant))
        .put("sessionPerMinute", 600)
        .put("connectionsPerSession", Math.max(10, perTenant))
        .put("tenantConnections", Math.max(10, perTenant))
        .put("sessionTTL", 600)
        .put("messagesPerMinute", 10)
        .put("sessionLifetime", 3600)
        .put("sessionsPerSubject", 100);
    send(control, "PUT", Paths.tier(TIER), tier);
    for (String tenant : tenants) {
      send(control, "POST", "/tenants", Json.object().put("tenantId", tenant).put("tier", TIER));
    }
  }

  private static void send(PacedApi api, String method, String path, JsonNode body) {
    api.send(method, path, Optional.of(body), Map.of()).orThrow();
  }

  private static List<String> sessions(Run run, List<String> tenants) {
    HttpDeployment deployment = run.deployment();
    return tenants.stream()
        .map(tenant -> deployment.sessions("PUT", tenant, Optional.empty()).orThrow())
        .map(created -> created.json().path("sessionId").asText())
        .toList();
  }

  private static Handshakes handshakes(Run run, List<String> tenants, List<String> sessions) {
    HttpDeployment deployment = run.deployment();
    int count = run.settings().handshakes();
    List<CompletableFuture<Handshakes.One>> running = new ArrayList<>();
    long start = run.shell().nanoTime().getAsLong();
    for (int i = 0; i < count; i++) {
      long due = start + MINUTE.toNanos() * i / count;
      long wait = due - run.shell().nanoTime().getAsLong();
      if (wait > 0) {
        run.shell().sleep(Duration.ofNanos(wait));
      }
      int tenant = i % tenants.size();
      running.add(
          handshake(deployment, tenants.get(tenant), sessions.get(tenant), run.shell().nanoTime()));
    }
    return new Handshakes(running.stream().map(CompletableFuture::join).toList());
  }

  private static CompletableFuture<Handshakes.One> handshake(
      Deployment deployment, String tenant, String session, LongSupplier nanoTime) {
    long begin = nanoTime.getAsLong();
    return deployment
        .handshake(Map.of("tenantId", tenant, "sessionId", session), Ignored.LISTENER)
        .handle(
            (result, failed) -> {
              long millis = Duration.ofNanos(nanoTime.getAsLong() - begin).toMillis();
              if (failed != null) {
                return new Handshakes.One(0, millis);
              }
              if (result instanceof Deployment.Handshake.Admitted admitted) {
                admitted.socket().close();
                return new Handshakes.One(ADMITTED, millis);
              }
              return new Handshakes.One(((Deployment.Handshake.Refused) result).status(), millis);
            });
  }

  /** What the handshakes got. */
  record Handshakes(List<One> all) {
    /**
     * @param status the answer's status; 0 if there was none
     */
    record One(int status, long millis) {}

    Finding allAdmitted() {
      Map<Integer, Integer> statuses = new TreeMap<>();
      all.forEach(one -> statuses.merge(one.status(), 1, Integer::sum));
      return Finding.of(
          statuses.keySet().equals(Set.of(ADMITTED)),
          "each handshake within the limits is admitted",
          "handshakes by status (0: no answer): " + statuses,
          "429: buckets that were not filled, see fills; 500 and 503: the log groups of Authorizer"
              + " and Connect");
    }

    String times() {
      long[] sorted = all.stream().mapToLong(One::millis).sorted().toArray();
      return "p50 %d ms, p99 %d ms, longest %d ms"
          .formatted(
              sorted[(sorted.length - 1) / 2],
              sorted[Math.max(0, (int) Math.ceil(sorted.length * 0.99) - 1)],
              Arrays.stream(sorted).max().orElse(0));
    }
  }

  private static List<Finding> metrics(Run run, Instant from, Instant to) {
    GetMetricDataResponse answer;
    try (CloudWatchClient client = run.stacks().account(run.stackName()).metrics()) {
      answer =
          client.getMetricData(
              request ->
                  request
                      .startTime(from.minus(MINUTE))
                      .endTime(to.plus(MINUTE))
                      .metricDataQueries(
                          metric("throttles", "AWS/Lambda", "Throttles", "Sum"),
                          metric("executions", "AWS/Lambda", "ConcurrentExecutions", "Maximum"),
                          metric("fills", "Tollgate", "FillDelay", "Maximum")));
    } catch (CloudWatchException refused) {
      // A repeated minute would cost as much again.
      String why = "CloudWatch refuses: " + refused.getMessage();
      return List.of(Finding.unknown(NO_THROTTLES, why), Finding.unknown(IN_TIME, why));
    }
    Optional<Double> throttles = most(answer, "throttles");
    Optional<Double> fills = most(answer, "fills");
    String executions =
        most(answer, "executions").map(value -> "%.0f at once".formatted(value)).orElse("unknown");
    return List.of(
        throttles
            .map(
                most ->
                    Finding.of(
                        most == 0,
                        NO_THROTTLES,
                        "%.0f throttled in the worst minute; executions: %s"
                            .formatted(most, executions),
                        "request more concurrent executions (docs/reference/quotas.md)"))
            .orElseGet(() -> Finding.unknown(NO_THROTTLES, "no metric Throttles yet")),
        fills
            .map(
                millis ->
                    Finding.of(
                        millis <= FILL_DELAY_MILLIS,
                        IN_TIME,
                        "the latest %.1f s after its minute".formatted(millis / 1000),
                        "docs/runbooks/fills-late.md"))
            .orElseGet(() -> Finding.unknown(IN_TIME, "no metric FillDelay yet")));
  }

  private static MetricDataQuery metric(
      String id, String namespace, String name, String statistic) {
    return MetricDataQuery.builder()
        .id(id)
        .metricStat(
            stat ->
                stat.metric(it -> it.namespace(namespace).metricName(name))
                    .period((int) MINUTE.toSeconds())
                    .stat(statistic))
        .build();
  }

  private static Optional<Double> most(GetMetricDataResponse answer, String id) {
    return answer.metricDataResults().stream()
        .filter(result -> result.id().equals(id))
        .flatMap(result -> result.values().stream())
        .max(Double::compare);
  }

  /** A client that reads nothing. */
  static final class Ignored implements Deployment.Listener {
    static final Ignored LISTENER = new Ignored();

    @Override
    public void frame(String text) {
      // Nobody sends.
    }

    @Override
    public void closed(int code) {
      // The handshake is what counts.
    }
  }
}
