package dev.tollgate.local.cloudwatch;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.RpcCbor;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Page;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.threads.DaemonThreads;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.DoubleSupplier;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;

/**
 * The alarms and dashboards of the stack, and the metrics that they show. Alarms are evaluated at
 * each full minute of the clock; if it skips minutes, once. Each alarm that is raised or ends is a
 * line of the log. Actions are not executed.
 */
public final class CloudWatch implements HttpHandler, AutoCloseable {
  private static final String QUEUE = "QueueName";
  private static final int MOST_LISTED = 100;
  private static final String ALARM = "ALARM";

  /** The last second of the year 9999. */
  private static final double LATEST = 253_402_300_799.0;

  private final Environment environment;
  private final Consumer<String> log;
  private final BiConsumer<String, BiConsumer<String, Double>> queues;
  private final MetricStore store;
  private final Map<String, Metrical> alarms = new TreeMap<>();
  private final Map<String, Composite> composites = new TreeMap<>();
  private final Map<String, Dashboard> dashboards = new TreeMap<>();
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("alarms"));
  private final Instant start;
  private Instant evaluated;

  /** An alarm with its state. */
  private static final class Current {
    private final ObjectNode definition;
    private final String name;
    private String state = "INSUFFICIENT_DATA";
    private String reason = "Unchecked: Initial alarm creation";
    private Instant since;

    private Current(ObjectNode definition, Instant since) {
      this.definition = definition;
      this.name = definition.path("AlarmName").asText();
      this.since = since;
    }
  }

  private record Metrical(Alarm alarm, Current current) {}

  private record Composite(CompositeAlarm alarm, Current current) {}

  /**
   * A service without alarms.
   *
   * @param queues passes the metrics of a queue, by its name, and their values to a consumer
   */
  public CloudWatch(
      Environment environment,
      BiConsumer<String, BiConsumer<String, Double>> queues,
      Consumer<String> log) {
    this.environment = environment;
    this.queues = queues;
    this.log = log;
    store = new MetricStore(environment.clock());
    start = minute();
    evaluated = start;
  }

  /** Receives the samples of metrics. */
  public Metric.Recorder metrics() {
    return store;
  }

  /** Receives what functions log, which may contain metrics. */
  public void logged(String line) {
    store.logged(line);
  }

  /** Sets the quota of the account that a metric measures. */
  public void quota(Metric metric, DoubleSupplier quota) {
    store.quota(metric, quota);
  }

  /**
   * Adds an alarm of the stack and returns its ARN.
   *
   * @throws IllegalArgumentException if it compares with a quota of a metric that measures none
   */
  public synchronized String add(Alarm alarm) {
    for (Metric metric : alarm.quotas()) {
      if (store.quota(metric).isEmpty()) {
        throw new IllegalArgumentException(
            "SERVICE_QUOTA: " + metric + " (expected: a metric that measures a quota)");
      }
    }
    alarm.statistics().forEach(each -> store.watch(each.metric(), each.statistic(), alarm.range()));
    Current current = new Current(alarm.definition(), environment.clock().instant());
    alarms.put(current.name, new Metrical(alarm, current));
    return arn(current.name);
  }

  /**
   * Adds an alarm over alarms of the stack and returns its ARN.
   *
   * @throws IllegalArgumentException if there is no alarm of a name in its rule
   */
  public synchronized String add(CompositeAlarm alarm) {
    for (String name : alarm.alarms()) {
      if (!alarms.containsKey(name)) {
        throw new IllegalArgumentException("AlarmRule: " + name + " (expected: an alarm)");
      }
    }
    Current current = new Current(alarm.definition(), environment.clock().instant());
    composites.put(current.name, new Composite(alarm, current));
    return arn(current.name);
  }

  /**
   * Adds a dashboard of the stack, whose metrics are kept for {@link Dashboard#RANGE}.
   *
   * @throws IllegalArgumentException if its body has a widget that is not supported here
   */
  public synchronized void addDashboard(String name, String body) {
    Dashboard dashboard = new Dashboard(body);
    dashboard
        .lines()
        .forEach(line -> store.watch(line.metric(), line.statistic(), Dashboard.RANGE));
    dashboards.put(name, dashboard);
  }

  /** Begins to evaluate. The clock is read every second of real time. */
  public synchronized void start() {
    if (!store.metrics().isEmpty()) {
      var unused = ticks.scheduleWithFixedDelay(this::evaluate, 1, 1, TimeUnit.SECONDS);
    }
  }

  /** Evaluates all alarms, unless that was done in this minute of the clock. */
  public synchronized void evaluate() {
    Instant minute = minute();
    if (minute.isAfter(evaluated)) {
      evaluated = minute;
      store.metrics().stream()
          .filter(metric -> metric.namespace().equals("AWS/SQS"))
          .map(metric -> metric.dimensions().getOrDefault(QUEUE, ""))
          .distinct()
          .forEach(queue -> measure(queue, minute.minus(Duration.ofMinutes(1))));
      alarms.values().forEach(one -> evaluate(one, minute));
      composites.values().forEach(this::evaluate);
    }
  }

  private void measure(String queue, Instant minute) {
    queues.accept(
        queue,
        (name, value) ->
            store.record(new Metric("AWS/SQS", name, Map.of(QUEUE, queue)), minute, value));
  }

  private void evaluate(Metrical one, Instant minute) {
    one.alarm()
        .evaluate(store, start, minute)
        .ifPresent(
            verdict ->
                become(
                    one.current(),
                    verdict.state(),
                    verdict.reason(),
                    "value %s, threshold %s"
                        .formatted(
                            verdict.value().isPresent()
                                ? String.format(Locale.ROOT, "%.1f", verdict.value().getAsDouble())
                                : "missing",
                            one.current().definition.path("Threshold").asText())));
  }

  private void evaluate(Composite one) {
    List<String> raised =
        alarms.values().stream()
            .map(Metrical::current)
            .filter(current -> current.state.equals(ALARM))
            .map(current -> current.name)
            .filter(one.alarm().alarms()::contains)
            .toList();
    String names = raised.isEmpty() ? "none" : String.join(", ", raised);
    become(
        one.current(),
        raised.isEmpty() ? "OK" : ALARM,
        "Raised alarms of the rule: " + names + ".",
        "raised: " + names);
  }

  private void become(Current current, String state, String reason, String values) {
    if (state.equals(current.state)) {
      return;
    }
    if (Set.of(current.state, state).contains(ALARM)) {
      log.accept(
          "Alarm %s: %s -> %s, %s. %s"
              .formatted(
                  current.name,
                  current.state,
                  state,
                  values,
                  current.definition.path("AlarmDescription").asText()));
    }
    current.state = state;
    current.reason = reason;
    current.since = environment.clock().instant();
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    ObjectNode request = Json.readObject(call.body());
    RpcCbor.send(
        exchange,
        switch (call.operation()) {
          case "DescribeAlarms" -> describe(request);
          case "GetDashboard" -> dashboard(request.path("DashboardName").asText());
          case "GetMetricData" -> data(request);
          default -> throw new ApiException(404, "UnknownOperationException", "");
        });
  }

  private synchronized ObjectNode dashboard(String name) {
    Dashboard dashboard = dashboards.get(name);
    if (dashboard == null) {
      throw new ApiException(404, "ResourceNotFound", "Dashboard " + name + " does not exist");
    }
    return Json.object()
        .put("DashboardArn", environment.globalArn("cloudwatch", "dashboard/" + name))
        .put("DashboardBody", dashboard.body())
        .put("DashboardName", name);
  }

  /** Answers all at once, however many data points there are; the latest one is the first. */
  ObjectNode data(ObjectNode request) {
    ObjectNode answer = Json.object();
    ArrayNode results = answer.putArray("MetricDataResults");
    try {
      long start = time(request, "StartTime");
      long end = time(request, "EndTime");
      if (start >= end) {
        throw new IllegalArgumentException("StartTime: " + start + " (expected: before EndTime)");
      }
      for (JsonNode query : request.path("MetricDataQueries")) {
        MetricStat.only(query, "Id", "Label", "MetricStat", "ReturnData");
        MetricStat stat = MetricStat.of(query.path("MetricStat"));
        ObjectNode result =
            results
                .addObject()
                .put("Id", query.path("Id").asText())
                .put("Label", query.path("Label").asText(stat.metric().name()))
                .put("StatusCode", "Complete");
        ArrayNode times = result.putArray("Timestamps");
        ArrayNode values = result.putArray("Values");
        for (Instant at : periods(stat, start, end)) {
          stat.of(store.samples(stat.metric(), at, at.plus(stat.period())))
              .ifPresent(
                  value -> {
                    times.addPOJO(at);
                    values.add(value);
                  });
        }
      }
    } catch (IllegalArgumentException e) {
      throw new ApiException(400, "InvalidParameterValue", String.valueOf(e.getMessage()));
    }
    return answer;
  }

  /** The whole periods in a range that have samples, the latest one first. */
  private Set<Instant> periods(MetricStat stat, long start, long end) {
    if (MetricStat.isPercentile(stat.statistic()) && !store.hasPercentiles(stat.metric())) {
      throw new IllegalArgumentException(
          "Stat: %s (expected: Sum or Maximum, or a metric of which an alarm or a dashboard has a"
                  .formatted(stat.statistic())
              + " percentile)");
    }
    long seconds = stat.period().toSeconds();
    Set<Instant> periods = new TreeSet<>(Comparator.reverseOrder());
    for (Instant minute : store.minutes(stat.metric())) {
      long period = minute.getEpochSecond() / seconds;
      if (period >= start / seconds && period < end / seconds) {
        periods.add(Instant.ofEpochSecond(period * seconds));
      }
    }
    return periods;
  }

  private static long time(ObjectNode request, String member) {
    JsonNode time = request.path(member);
    if (!time.isNumber() || time.asDouble() < 0 || time.asDouble() > LATEST) {
      throw new IllegalArgumentException(
          member + ": " + time + " (expected: seconds since 1970, up to the year 9999)");
    }
    return time.asLong();
  }

  private synchronized ObjectNode describe(ObjectNode request) {
    List<String> names = texts(request.path("AlarmNames"));
    // Without types, CloudWatch lists metric alarms alone.
    List<String> types = texts(request.path("AlarmTypes"));
    Stream<Current> metrical =
        alarms.values().stream()
            .map(Metrical::current)
            .filter(one -> types.isEmpty() || types.contains("MetricAlarm"));
    Stream<Current> composite =
        composites.values().stream()
            .map(Composite::current)
            .filter(one -> types.contains("CompositeAlarm"));
    Page<Current> page =
        Page.of(
            Stream.concat(metrical, composite)
                .filter(one -> names.isEmpty() || names.contains(one.name))
                .filter(one -> one.name.startsWith(request.path("AlarmNamePrefix").asText()))
                .filter(one -> one.state.equals(request.path("StateValue").asText(one.state)))
                .sorted(Comparator.comparing(one -> one.name)),
            one -> one.name,
            Optional.ofNullable(request.get("NextToken")).map(JsonNode::asText),
            request.path("MaxRecords").asInt(MOST_LISTED));
    ObjectNode answer = Json.object();
    ArrayNode listedComposites = answer.putArray("CompositeAlarms");
    ArrayNode listed = answer.putArray("MetricAlarms");
    page.items()
        .forEach(
            one ->
                (composites.containsKey(one.name) ? listedComposites : listed).add(described(one)));
    page.next().ifPresent(next -> answer.put("NextToken", next));
    return answer;
  }

  private ObjectNode described(Current one) {
    return one.definition
        .deepCopy()
        .put("AlarmArn", arn(one.name))
        .put("StateValue", one.state)
        .put("StateReason", one.reason)
        .putPOJO("StateUpdatedTimestamp", one.since)
        .putPOJO("StateTransitionedTimestamp", one.since);
  }

  private static List<String> texts(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).map(JsonNode::asText).toList();
  }

  private String arn(String name) {
    return environment.arn("cloudwatch", "alarm:" + name);
  }

  private Instant minute() {
    return environment.clock().instant().truncatedTo(ChronoUnit.MINUTES);
  }

  @Override
  public void close() {
    ticks.shutdownNow();
  }
}
