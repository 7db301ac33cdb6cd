package dev.tollgate.local.faults;

import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Principal;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.SameThreadExecutor;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** Delays requests and makes them fail. */
public final class RequestFaults {
  private static final Duration FREEZE = Duration.ofSeconds(3);

  /** The error with which each service throttles. */
  private static final Map<String, ApiException> THROTTLING =
      Map.of(
          "dynamodb",
              new ApiException(
                  400,
                  "com.amazonaws.dynamodb.v20120810#ThrottlingException",
                  "Throughput exceeds the current capacity of your table or index."),
          "execute-api", new ApiException(429, "LimitExceededException", "Too Many Requests"),
          "lambda", new ApiException(429, "TooManyRequestsException", "Rate Exceeded."),
          "scheduler", new ApiException(429, "ThrottlingException", "Rate exceeded"),
          "sqs",
              new ApiException(
                  400,
                  "com.amazonaws.sqs#RequestThrottled",
                  "RequestThrottled",
                  "Request is throttled."),
          "sts", new ApiException(400, "Throttling", "Rate exceeded"));

  private final Faults faults;
  private final QueueFaults queues;
  private final TableFaults tables;
  private final Predicate<Principal> exempt;
  private final Predicate<String> functions;
  private final Consumer<String> kill;

  /**
   * Faults of requests.
   *
   * @param exempt whose requests meet no planned faults
   * @param functions whether a principal's name is that of a function
   * @param kill ends what a function is doing
   */
  public RequestFaults(
      Faults faults,
      Predicate<Principal> exempt,
      Predicate<String> functions,
      Consumer<String> kill) {
    this.faults = faults;
    this.queues = new QueueFaults(faults);
    this.tables = new TableFaults(faults);
    this.exempt = exempt;
    this.functions = functions;
    this.kill = kill;
  }

  /** Puts the faults before a handler. */
  public HttpHandler before(HttpHandler next) {
    HttpHandler planned = faults.arePlanned() ? planned(next) : next;
    return exchange -> {
      Optional<Fault> fault = faults.injected(Call.of(exchange));
      if (fault.isPresent()) {
        apply(fault.get(), exchange, planned);
      } else {
        planned.handleRequest(exchange);
      }
    };
  }

  private HttpHandler planned(HttpHandler next) {
    HttpHandler failing =
        exchange -> {
          Optional<Fault> fault = planned(Call.of(exchange));
          if (fault.isPresent()) {
            apply(fault.get(), exchange, next);
          } else if (!queues.answer(exchange)) {
            tables.change(exchange);
            next.handleRequest(exchange);
          }
        };
    return exchange -> {
      Call call = Call.of(exchange);
      if (exempt.test(call.principal())) {
        next.handleRequest(exchange);
        return;
      }
      Duration delay = delay(call);
      if (delay.isZero()) {
        failing.handleRequest(exchange);
      } else {
        exchange.dispatch(
            SameThreadExecutor.INSTANCE,
            () -> {
              var unused =
                  exchange
                      .getIoThread()
                      .executeAfter(
                          () -> exchange.dispatch(failing),
                          delay.toMillis(),
                          TimeUnit.MILLISECONDS);
            });
      }
    };
  }

  private Duration delay(Call call) {
    Duration latency = faults.latency(call.service(), call.operation());
    return ofFunction(FaultKind.FUNCTION_FROZEN, call) ? latency.plus(FREEZE) : latency;
  }

  private Optional<Fault> planned(Call call) {
    if (faults.throttles(call.service(), call.operation())) {
      return Optional.ofNullable(THROTTLING.get(call.service()))
          .map(error -> new Fault.Refused(error));
    }
    if (ofFunction(FaultKind.FUNCTION_KILLED, call)) {
      return Optional.of(new Fault.Interrupted(() -> kill.accept(call.principal().name())));
    }
    if (ofFunction(FaultKind.FUNCTION_HANGS, call)) {
      return Optional.of(new Fault.Hung());
    }
    return isConditionalWrite(call)
            && faults.occurs(FaultKind.WRITE_UNANSWERED, call.resource().orElse(call.operation()))
        ? Optional.of(new Fault.Unanswered())
        : Optional.empty();
  }

  /** Only for callers that are functions: event sources, schedules and API Gateway cannot die. */
  private boolean ofFunction(FaultKind kind, Call call) {
    String name = call.principal().name();
    return functions.test(name) && faults.occurs(kind, name);
  }

  private static boolean isConditionalWrite(Call call) {
    return call.service().equals("dynamodb") && call.body().contains("\"ConditionExpression\"");
  }

  private static void apply(Fault fault, HttpServerExchange exchange, HttpHandler next)
      throws Exception {
    if (fault instanceof Fault.Refused refused) {
      refused.error().send(exchange);
    } else if (fault instanceof Fault.Hung) {
      exchange.dispatch(SameThreadExecutor.INSTANCE, () -> {});
    } else if (fault instanceof Fault.Unanswered) {
      exchange.addResponseCommitListener(RequestFaults::disconnect);
      next.handleRequest(exchange);
    } else {
      if (fault instanceof Fault.Interrupted interrupted) {
        interrupted.by().run();
      }
      disconnect(exchange);
    }
  }

  private static void disconnect(HttpServerExchange exchange) {
    try {
      exchange.getConnection().close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
