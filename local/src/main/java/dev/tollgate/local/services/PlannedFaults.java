package dev.tollgate.local.services;

import dev.tollgate.local.faults.Fates;
import dev.tollgate.local.faults.FaultPlan;
import dev.tollgate.local.faults.Misfortune;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.SameThreadExecutor;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;

/** What a plan makes of requests: late, refused, half done, answered wrongly or not at all. */
public final class PlannedFaults {
  private static final Duration FREEZE = Duration.ofSeconds(3);

  /** How each service says that it is asked too much. */
  private static final Map<String, ServiceError> THROTTLING =
      Map.of(
          "dynamodb",
              new ServiceError(
                  400,
                  "com.amazonaws.dynamodb.v20120810#ThrottlingException",
                  "Throughput exceeds the current capacity of your table or index."),
          "execute-api", new ServiceError(429, "LimitExceededException", "Too Many Requests"),
          "lambda", new ServiceError(429, "TooManyRequestsException", "Rate Exceeded."),
          "scheduler", new ServiceError(429, "ThrottlingException", "Rate exceeded"),
          "sqs",
              new ServiceError(400, "com.amazonaws.sqs#RequestThrottled", "Request is throttled."),
          "sts", new ServiceError(400, "Throttling", "Rate exceeded"));

  private final Fates fates;
  private final Predicate<Principal> spared;
  private final Predicate<String> functions;
  private final Consumer<String> kill;
  private final PlannedQueueFaults queues;

  /**
   * @param spared whose requests never go wrong
   * @param functions whether there is a function of a name
   * @param kill ends what a function is doing
   */
  public PlannedFaults(
      Fates fates,
      Predicate<Principal> spared,
      Predicate<String> functions,
      Consumer<String> kill) {
    this.fates = fates;
    this.spared = spared;
    this.functions = functions;
    this.kill = kill;
    this.queues = new PlannedQueueFaults(fates);
  }

  /** Nothing goes wrong. */
  public static PlannedFaults none() {
    return new PlannedFaults(
        new Fates(FaultPlan.none()), who -> true, function -> false, function -> {});
  }

  /** Puts the plan before a handler. */
  HttpHandler before(HttpHandler next) {
    if (fates.areKind()) {
      return next;
    }
    HttpHandler struck = exchange -> strike(exchange, next);
    return exchange -> {
      Call call = Call.of(exchange);
      if (spared.test(call.principal())) {
        next.handleRequest(exchange);
        return;
      }
      Duration delay = fates.latency(call.service(), call.operation());
      if (strikesFunction(Misfortune.FUNCTION_FROZEN, call)) {
        delay = delay.plus(FREEZE);
      }
      if (delay.isZero()) {
        struck.handleRequest(exchange);
      } else {
        long millis = delay.toMillis();
        exchange.dispatch(
            SameThreadExecutor.INSTANCE,
            () -> {
              var unused =
                  exchange
                      .getIoThread()
                      .executeAfter(() -> exchange.dispatch(struck), millis, TimeUnit.MILLISECONDS);
            });
      }
    };
  }

  private void strike(HttpServerExchange exchange, HttpHandler next) throws Exception {
    Call call = Call.of(exchange);
    String subject = call.resource().orElse(call.operation());
    if (fates.throttles(call.service(), call.operation())) {
      refuse(exchange, call.service());
    } else if (strikesFunction(Misfortune.FUNCTION_KILLED, call)) {
      kill.accept(call.principal().name());
      Faults.breakOff(exchange);
    } else if (strikesFunction(Misfortune.FUNCTION_HANGS, call)) {
      exchange.dispatch(SameThreadExecutor.INSTANCE, () -> {});
    } else if (isConditionalWrite(call) && fates.strikes(Misfortune.WRITE_UNANSWERED, subject)) {
      exchange.addResponseCommitListener(Faults::breakOff);
      next.handleRequest(exchange);
    } else if (!call.service().equals("sqs") || !queues.strike(exchange, call)) {
      next.handleRequest(exchange);
    }
  }

  /** Event sources, schedules and API Gateway ask as well, but are no process that could die. */
  private boolean strikesFunction(Misfortune misfortune, Call call) {
    String name = call.principal().name();
    return functions.test(name) && fates.strikes(misfortune, name);
  }

  private static boolean isConditionalWrite(Call call) {
    return call.service().equals("dynamodb") && call.body().contains("\"ConditionExpression\"");
  }

  private static void refuse(HttpServerExchange exchange, String service) {
    ServiceError error =
        THROTTLING.getOrDefault(service, new ServiceError(429, "ThrottlingException", "Rate"));
    if (service.equals("sts")) {
      error.sendXml(exchange);
    } else if (service.equals("sqs")) {
      error.sendJson(exchange, "RequestThrottled");
    } else {
      error.sendJson(exchange);
    }
  }
}
