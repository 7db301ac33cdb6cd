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
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.StreamSupport;

/**
 * The alarms of the stack. They are evaluated at each full minute of the clock; if it skips
 * minutes, once. Each alarm that is raised or ends is a line of the log. Actions are not executed.
 */
public final class CloudWatch implements HttpHandler, AutoCloseable {
  private static final String QUEUE = "QueueName";
  private static final int MOST_LISTED = 100;

  private final Environment environment;
  private final Consumer<String> log;
  private final BiConsumer<String, BiConsumer<String, Double>> queues;
  private final MetricStore store = new MetricStore();
  private final Map<String, Current> alarms = new TreeMap<>();
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("alarms"));
  private final Instant start;
  private Instant evaluated;

  /** An alarm with its state. */
  private static final class Current {
    private final Alarm alarm;
    private String state = "INSUFFICIENT_DATA";
    private String reason = "Unchecked: Initial alarm creation";
    private Instant since;

    private Current(Alarm alarm, Instant since) {
      this.alarm = alarm;
      this.since = since;
    }
  }

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

  /** Adds an alarm of the stack and returns its ARN. */
  public synchronized String add(Alarm alarm) {
    alarm.metrics().forEach(metric -> store.watch(metric, alarm.range()));
    alarms.put(alarm.name(), new Current(alarm, environment.clock().instant()));
    return arn(alarm.name());
  }

  /** Begins to evaluate. The clock is read every second of real time. */
  public synchronized void start() {
    if (!alarms.isEmpty()) {
      var unused = ticks.scheduleWithFixedDelay(this::evaluate, 1, 1, TimeUnit.SECONDS);
    }
  }

  /** Evaluates all alarms, unless that was done in this minute of the clock. */
  public synchronized void evaluate() {
    Instant minute = minute();
    if (minute.isAfter(evaluated)) {
      evaluated = minute;
      alarms.values().stream()
          .flatMap(current -> current.alarm.metrics().stream())
          .filter(metric -> metric.namespace().equals("AWS/SQS"))
          .map(metric -> metric.dimensions().getOrDefault(QUEUE, ""))
          .distinct()
          .forEach(queue -> measure(queue, minute.minus(Duration.ofMinutes(1))));
      alarms.values().forEach(current -> evaluate(current, minute));
    }
  }

  private void measure(String queue, Instant minute) {
    queues.accept(
        queue,
        (name, value) ->
            store.record(new Metric("AWS/SQS", name, Map.of(QUEUE, queue)), minute, value));
  }

  private void evaluate(Current current, Instant minute) {
    current
        .alarm
        .evaluate(store, start, minute)
        .filter(verdict -> !verdict.state().equals(current.state))
        .ifPresent(
            verdict -> {
              if (Set.of(current.state, verdict.state()).contains("ALARM")) {
                log.accept(changed(current, verdict));
              }
              current.state = verdict.state();
              current.reason = verdict.reason();
              current.since = environment.clock().instant();
            });
  }

  private static String changed(Current current, Alarm.Verdict verdict) {
    ObjectNode definition = current.alarm.definition();
    return "Alarm %s: %s -> %s, value %s, threshold %s. %s"
        .formatted(
            current.alarm.name(),
            current.state,
            verdict.state(),
            verdict.value().isPresent()
                ? String.format(Locale.ROOT, "%.1f", verdict.value().getAsDouble())
                : "missing",
            definition.path("Threshold").asText(),
            definition.path("AlarmDescription").asText());
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    if (!call.operation().equals("DescribeAlarms")) {
      throw new ApiException(404, "UnknownOperationException", "");
    }
    RpcCbor.send(exchange, describe(Json.readObject(call.body())));
  }

  private synchronized ObjectNode describe(ObjectNode request) {
    List<String> names = texts(request.path("AlarmNames"));
    List<String> types = texts(request.path("AlarmTypes"));
    Page<Current> page =
        Page.of(
            alarms.values().stream()
                .filter(one -> types.isEmpty() || types.contains("MetricAlarm"))
                .filter(one -> names.isEmpty() || names.contains(one.alarm.name()))
                .filter(
                    one -> one.alarm.name().startsWith(request.path("AlarmNamePrefix").asText()))
                .filter(one -> one.state.equals(request.path("StateValue").asText(one.state))),
            one -> one.alarm.name(),
            Optional.ofNullable(request.get("NextToken")).map(JsonNode::asText),
            request.path("MaxRecords").asInt(MOST_LISTED));
    ObjectNode answer = Json.object();
    answer.putArray("CompositeAlarms");
    ArrayNode listed = answer.putArray("MetricAlarms");
    page.items().forEach(one -> listed.add(described(one)));
    page.next().ifPresent(next -> answer.put("NextToken", next));
    return answer;
  }

  private ObjectNode described(Current one) {
    return one.alarm
        .definition()
        .put("AlarmArn", arn(one.alarm.name()))
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
