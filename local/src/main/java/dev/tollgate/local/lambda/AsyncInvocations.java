package dev.tollgate.local.lambda;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.cloudwatch.Metric;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.InvocationResult.Failure;
import dev.tollgate.local.lambda.InvocationResult.NotFound;
import dev.tollgate.local.lambda.InvocationResult.Success;
import dev.tollgate.local.lambda.InvocationResult.Throttled;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.threads.DaemonThreads;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Comparator;
import java.util.Map;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The queue of asynchronous invocations. An event whose function fails is retried after one minute
 * and again after two; one that is throttled is retried after 1 s, 2 s, and so on up to 5 min,
 * until it is too old. An event that is given up goes to the function's dead-letter queue and to
 * the destination for failures. Waiting events are in memory and end with the process.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-error-handling.html">How
 *     Lambda handles errors and retries with asynchronous invocation</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/invocation-async-retain-records.html">Capturing
 *     records of Lambda asynchronous invocations</a>
 */
public final class AsyncInvocations implements AutoCloseable {
  private static final Duration LONGEST_BACKOFF = Duration.ofMinutes(5);

  private final Invoker functions;
  private final Function<String, Optional<ObjectNode>> configurations;
  private final BiFunction<String, String, ServiceClient> clients;
  private final InstantSource clock;
  private final Consumer<String> log;
  private final WorkCounter work = new WorkCounter();
  private volatile Metric.Recorder metrics = (metric, at, value) -> {};
  private final Map<String, Config> configs = new ConcurrentHashMap<>();
  private final PriorityQueue<Event> waiting =
      new PriorityQueue<>(Comparator.comparing(Event::due));
  private final ExecutorService pool =
      Executors.newCachedThreadPool(new DaemonThreads("async-invocations"));
  private final ScheduledExecutorService ticks =
      Executors.newSingleThreadScheduledExecutor(new DaemonThreads("async-ticks"));

  /**
   * How Lambda treats the asynchronous invocations of a function, version or alias.
   *
   * @param retries how often a failed invocation is retried, 0 to 2
   * @param maximumAge the age at which an event is discarded, 60 s to 6 h
   * @param onSuccess ARN of the queue that receives a record of each success
   * @param onFailure ARN of the queue that receives a record of each event that is given up
   */
  public record Config(
      int retries, Duration maximumAge, Optional<String> onSuccess, Optional<String> onFailure) {
    /** The settings of a function that has none. */
    public static final Config DEFAULT =
        new Config(2, Duration.ofHours(6), Optional.empty(), Optional.empty());
  }

  /**
   * An event in the queue.
   *
   * @param functionArn with the qualifier by which the function was invoked
   * @param failures how often the function has failed
   * @param throttles how often the invocation was throttled
   */
  private record Event(
      String functionArn,
      String requestId,
      String payload,
      Instant accepted,
      Instant due,
      int failures,
      int throttles) {
    Event failed(Instant now) {
      return new Event(
          functionArn,
          requestId,
          payload,
          accepted,
          now.plus(Duration.ofMinutes(failures + 1)),
          failures + 1,
          throttles);
    }

    Event throttled(Instant now) {
      Duration doubled = Duration.ofSeconds(1L << Math.min(throttles, 20));
      Duration backoff = doubled.compareTo(LONGEST_BACKOFF) < 0 ? doubled : LONGEST_BACKOFF;
      return new Event(
          functionArn, requestId, payload, accepted, now.plus(backoff), failures, throttles + 1);
    }
  }

  /**
   * An empty queue. The clock is read every second of real time.
   *
   * @param configurations finds the configuration of a function by name or ARN
   * @param clients makes the client of a principal, by name and role
   */
  public AsyncInvocations(
      Invoker functions,
      Function<String, Optional<ObjectNode>> configurations,
      BiFunction<String, String, ServiceClient> clients,
      InstantSource clock,
      Consumer<String> log) {
    this.functions = functions;
    this.configurations = configurations;
    this.clients = clients;
    this.clock = clock;
    this.log = log;
    var unused = ticks.scheduleWithFixedDelay(this::dispatch, 1, 1, TimeUnit.SECONDS);
  }

  /** Records the events that are given up from now on. */
  public void measure(Metric.Recorder recorder) {
    metrics = recorder;
  }

  /** Configures the invocations of a function, version or alias, by its ARN. */
  public void configure(String functionArn, Config config) {
    configs.put(functionArn, config);
  }

  /**
   * Queues an event and starts its first attempt.
   *
   * @param function name or ARN, with or without a qualifier
   * @param payload the event, JSON
   * @return the end of the first attempt; empty if there is no such function
   */
  public Optional<CompletableFuture<Void>> accept(String function, String payload) {
    Instant now = clock.instant();
    return configurations
        .apply(function)
        .map(configuration -> configuration.path("FunctionArn").asText())
        .map(arn -> new Event(arn, UUID.randomUUID().toString(), payload, now, now, 0, 0))
        .map(this::attempt);
  }

  /**
   * Waits until all events that are due have been attempted. Later retries are not due.
   *
   * @return how many attempts there have been so far
   */
  public long settle() throws InterruptedException {
    dispatch();
    return work.awaitQuiet();
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    pool.shutdownNow();
  }

  private synchronized void dispatch() {
    Instant now = clock.instant();
    for (Event next = waiting.peek();
        next != null && !next.due().isAfter(now);
        next = waiting.peek()) {
      waiting.remove();
      var unused = attempt(next);
    }
  }

  private CompletableFuture<Void> attempt(Event event) {
    work.begin();
    work.invoked();
    Duration age = Duration.between(event.accepted(), clock.instant());
    return (age.compareTo(config(event).maximumAge()) > 0
            ? CompletableFuture.runAsync(
                () -> giveUp(event, "EventAgeExceeded", Optional.empty()), pool)
            : functions
                .start(event.functionArn(), event.payload().getBytes(StandardCharsets.UTF_8))
                .thenAcceptAsync(result -> end(event, result), pool))
        .whenComplete((done, never) -> work.end());
  }

  private void end(Event event, InvocationResult result) {
    if (result instanceof Success success) {
      String answer = new String(success.payload(), StandardCharsets.UTF_8);
      config(event)
          .onSuccess()
          .ifPresent(
              queue ->
                  send(event, message(queue, record(event, "Success", Optional.of(answer), true))));
    } else if (result instanceof Failure failure) {
      Event again = event.failed(clock.instant());
      if (again.failures() > config(event).retries()) {
        giveUp(again, "RetriesExhausted", Optional.of(failure));
      } else {
        await(again);
      }
    } else if (result instanceof Throttled) {
      await(event.throttled(clock.instant()));
    } else if (result instanceof NotFound missing) {
      log.accept(missing.function() + " was deleted, and with it an event in its queue");
    }
  }

  private synchronized void await(Event event) {
    waiting.add(event);
  }

  private void giveUp(Event event, String condition, Optional<Failure> last) {
    log.accept(event.functionArn() + ": an asynchronous event is given up: " + condition);
    String name = event.functionArn().split(":", -1)[6];
    metrics.record(
        new Metric("AWS/Lambda", "AsyncEventsDropped", Map.of("FunctionName", name)),
        clock.instant(),
        1);
    configurations
        .apply(event.functionArn())
        .map(function -> function.at("/DeadLetterConfig/TargetArn").asText())
        .filter(queue -> !queue.isEmpty())
        .ifPresent(queue -> send(event, deadLetter(queue, event, last)));
    Optional<String> error =
        last.map(failure -> new String(failure.payload(), StandardCharsets.UTF_8));
    config(event)
        .onFailure()
        .ifPresent(queue -> send(event, message(queue, record(event, condition, error, false))));
  }

  /** The event itself; only attributes tell of the error. */
  private static ObjectNode deadLetter(String queueArn, Event event, Optional<Failure> last) {
    ObjectNode letter = message(queueArn, event.payload());
    ObjectNode attributes = letter.putObject("MessageAttributes");
    attribute(attributes, "RequestID", "String", event.requestId());
    last.ifPresent(
        failure -> {
          attribute(attributes, "ErrorCode", "Number", "200");
          attribute(attributes, "ErrorMessage", "String", failure.message());
        });
    return letter;
  }

  private static void attribute(ObjectNode attributes, String name, String type, String value) {
    attributes.putObject(name).put("DataType", type).put("StringValue", value);
  }

  private String record(Event event, String condition, Optional<String> answer, boolean succeeded) {
    ObjectNode record = Json.object().put("version", "1.0");
    record.put("timestamp", clock.instant().toString());
    String arn = event.functionArn();
    boolean qualified = arn.split(":", -1).length > 7;
    record
        .putObject("requestContext")
        .put("requestId", event.requestId())
        .put("functionArn", qualified ? arn : arn + ":$LATEST")
        .put("condition", condition)
        .put("approximateInvokeCount", event.failures() + (succeeded ? 1 : 0));
    record.set("requestPayload", Json.readOrMissing(event.payload()));
    answer.ifPresent(
        payload -> {
          ObjectNode context = record.putObject("responseContext").put("statusCode", 200);
          configurations
              .apply(arn)
              .ifPresent(function -> context.set("executedVersion", function.path("Version")));
          if (!succeeded) {
            context.put("functionError", "Unhandled");
          }
          record.set("responsePayload", Json.readOrMissing(payload));
        });
    return record.toString();
  }

  private static ObjectNode message(String queueArn, String body) {
    return Json.object().put("QueueUrl", Environment.queueUrl(queueArn)).put("MessageBody", body);
  }

  /** Sends a message with the rights of the function's role. */
  private void send(Event event, ObjectNode message) {
    Optional<ObjectNode> function = configurations.apply(event.functionArn());
    String role = function.map(found -> found.path("Role").asText()).orElse("");
    String name = function.map(found -> found.path("FunctionName").asText()).orElse("");
    ServiceClient.Answer answer =
        clients.apply(name + " destination", role).call("sqs", "AmazonSQS.SendMessage", message);
    if (!answer.succeeded()) {
      log.accept(message.path("QueueUrl").asText() + ": " + answer.body());
    }
  }

  private Config config(Event event) {
    return configs.getOrDefault(event.functionArn(), Config.DEFAULT);
  }
}
