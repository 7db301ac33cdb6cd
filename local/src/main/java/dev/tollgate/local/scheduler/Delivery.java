package dev.tollgate.local.scheduler;

import dev.tollgate.local.template.Environment;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Executes attempts. It calls the target, and after a failure decides between a retry and the
 * dead-letter queue. See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/configuring-schedule-dlq.html">Configuring
 * a dead-letter queue</a>.
 */
final class Delivery {
  private static final Logger LOG = LoggerFactory.getLogger(Delivery.class);

  private final Environment environment;
  private final Targets targets;

  Delivery(Environment environment, Targets targets) {
    this.environment = environment;
    this.targets = targets;
  }

  /** Executes an attempt and returns the next one, if there is one. */
  Optional<Attempt> make(Attempt attempt) {
    Target target = attempt.schedule().definition().target();
    String groupArn = attempt.schedule().key().groupArn(environment);
    String executionId = Attempt.newExecutionId();
    String payload = attempt.payload(environment, executionId);
    Instant begun = environment.clock().instant();
    if (!(call(() -> target.call(targets, groupArn, payload)) instanceof Targets.Failed failed)) {
      return Optional.empty();
    }
    Attempt retry = attempt.retry(Duration.between(begun, environment.clock().instant()));
    Optional<String> exhausted =
        attempt.retries() >= target.maximumRetryAttempts()
            ? Optional.of("MaximumRetryAttempts")
            : retry.age().compareTo(target.maximumEventAge()) > 0
                ? Optional.of("MaximumEventAgeInSeconds")
                : Optional.empty();
    if (failed.retryable() && exhausted.isEmpty()) {
      return Optional.of(retry);
    }
    var attributes = new TreeMap<String, String>();
    attributes.put("ERROR_CODE", failed.errorCode());
    attributes.put("ERROR_MESSAGE", failed.message());
    attributes.put("EXECUTION_ID", executionId);
    attributes.put("IS_PAYLOAD_TRUNCATED", "false");
    attributes.put("RETRY_ATTEMPTS", Integer.toString(attempt.retries()));
    attributes.put("SCHEDULED_TIME", attempt.scheduledTimeText());
    attributes.put("SCHEDULE_ARN", attempt.schedule().key().arn(environment));
    attributes.put("TARGET_ARN", target.actionArn());
    if (failed.retryable()) {
      exhausted.ifPresent(condition -> attributes.put("EXHAUSTED_RETRY_CONDITION", condition));
    }
    LOG.warn("Not delivered: {}", attributes);
    target
        .deadLetterArn()
        .map(
            queue ->
                call(() -> target.sendDeadLetter(targets, queue, groupArn, payload, attributes)))
        .filter(Targets.Failed.class::isInstance)
        .ifPresent(lost -> LOG.warn("Not dead-lettered: {}", lost));
    return Optional.empty();
  }

  private static Targets.Outcome call(Supplier<Targets.Outcome> target) {
    try {
      return target.get();
    } catch (RuntimeException e) {
      LOG.warn("A target threw", e);
      return new Targets.Failed(
          "AWS.Scheduler.InternalServerError",
          "Unexpected error occurred while processing the request",
          true);
    }
  }
}
