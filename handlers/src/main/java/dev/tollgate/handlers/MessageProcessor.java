package dev.tollgate.handlers;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.LambdaLogger;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.SQSBatchResponse;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.IncomingMessage;
import dev.tollgate.core.message.MessageOutcome;
import dev.tollgate.core.message.MessageProcessing;
import dev.tollgate.core.message.MessageProcessing.Result;
import dev.tollgate.core.session.SessionId;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Processes messages from a FIFO queue, the pool's or a silo's. The queue's group says whose a
 * message is: {@code tenantId:sessionId}, as the authorizer found it. What is not done is returned,
 * and comes again.
 */
public final class MessageProcessor implements RequestHandler<SQSEvent, SQSBatchResponse> {
  /** What is left of an invocation's time to answer in. */
  private static final Duration MARGIN = Duration.ofSeconds(2);

  private static final String GROUP = "MessageGroupId";
  private static final String CONNECTION = "connectionId";

  private final MessageProcessing processing;
  private final Telemetry telemetry;

  /** The function as Lambda makes it. */
  public MessageProcessor() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with this environment and clock. */
  public MessageProcessor(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).messageProcessing(), new Telemetry(clock));
  }

  MessageProcessor(MessageProcessing processing, Telemetry telemetry) {
    this.processing = processing;
    this.telemetry = telemetry;
  }

  @Override
  public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
    Counts counts = new Counts();
    LambdaLogger log = context.getLogger();
    List<String> queueIds = new ArrayList<>();
    List<IncomingMessage> batch = new ArrayList<>();
    for (SQSMessage message : event.getRecords()) {
      try {
        batch.add(incoming(message));
        queueIds.add(message.getMessageId());
      } catch (InvalidValue nobodys) {
        log.log("message " + message.getMessageId() + " dropped: " + nobodys.logged());
        counts.add(Optional.empty(), MessageOutcome.DROPPED);
      }
    }
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    List<Result> results = processing.process(batch, time);
    SQSBatchResponse response = new SQSBatchResponse(new ArrayList<>());
    Map<TenantId, Integer> undelivered = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      Result result = results.get(i);
      TenantId tenant = batch.get(i).tenant();
      String id = queueIds.get(i);
      counts.add(Optional.of(tenant), result.outcome());
      undelivered.merge(tenant, result.undelivered(), Integer::sum);
      result
          .cause()
          .ifPresent(
              cause -> log.log("message " + id + " of " + tenant + ": " + reason(result, cause)));
      if (!result.outcome().isDone()) {
        response.getBatchItemFailures().add(new SQSBatchResponse.BatchItemFailure(id));
      }
    }
    counts.publish(telemetry, log);
    undelivered.forEach((tenant, frames) -> telemetry.undeliveredFrames(log, tenant, frames));
    return response;
  }

  private static IncomingMessage incoming(SQSMessage message) {
    String group = message.getAttributes().getOrDefault(GROUP, "");
    String[] owner = group.split(":", 2);
    if (owner.length != 2) {
      throw InvalidValue.ofSecret(GROUP, group, "tenantId:sessionId");
    }
    String connectionId =
        Optional.ofNullable(message.getMessageAttributes())
            .map(attributes -> attributes.get(CONNECTION))
            .map(SQSEvent.MessageAttribute::getStringValue)
            .orElseThrow(() -> new InvalidValue(CONNECTION, "missing", "a socket's name"));
    ClientFrame frame = ClientFrame.of(message.getBody());
    return new IncomingMessage(
        new TenantId(owner[0]),
        new SessionId(owner[1]),
        connectionId,
        message.getMessageId(),
        frame.id(),
        frame.content());
  }

  private static String reason(Result result, Throwable cause) {
    if (!result.outcome().isDone()) {
      return reason(cause);
    }
    return result.undelivered() == 0
        ? "processed, but not logged: " + reason(cause)
        : result.undelivered() + " frames not delivered: " + reason(cause);
  }

  /** Why something failed; with a stack trace if the application's own code failed. */
  private static String reason(Throwable cause) {
    if (cause instanceof Unavailable unavailable) {
      return LogText.lines(unavailable.reason());
    }
    StringWriter trace = new StringWriter();
    cause.printStackTrace(new PrintWriter(trace));
    return LogText.lines(trace.toString());
  }

  /** How many messages of a batch came to what, by tenant. */
  private static final class Counts {
    private final Map<Optional<TenantId>, Map<MessageOutcome, Integer>> byTenant =
        new LinkedHashMap<>();

    void add(Optional<TenantId> tenant, MessageOutcome outcome) {
      byTenant
          .computeIfAbsent(tenant, any -> new EnumMap<>(MessageOutcome.class))
          .merge(outcome, 1, Integer::sum);
    }

    void publish(Telemetry telemetry, LambdaLogger log) {
      byTenant.forEach(
          (tenant, counts) ->
              counts.forEach(
                  (outcome, count) -> telemetry.messages(log, tenant, outcome.name(), count)));
    }
  }
}
