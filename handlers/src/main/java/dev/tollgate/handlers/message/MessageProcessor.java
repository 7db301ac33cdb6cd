package dev.tollgate.handlers.message;

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
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
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
import java.util.Set;
import java.util.TreeSet;

/**
 * The function that processes messages from a FIFO queue: the pool's queue or a silo's. The message
 * group names the sender as {@code tenantId:sessionId}, which the gateway takes from the
 * authorizer's context. The function returns the messages that failed, and SQS delivers them again.
 */
public final class MessageProcessor implements RequestHandler<SQSEvent, SQSBatchResponse> {
  /** The part of the invocation's time that is reserved for the response. */
  private static final Duration MARGIN = Duration.ofSeconds(2);

  private static final String GROUP_ID = "MessageGroupId";
  private static final String TRACE_HEADER = "AWSTraceHeader";
  private static final String CONNECTION_ID = "connectionId";

  /** The attribute of a redriven message. The gateway sets all attributes, and never this one. */
  private static final String REDRIVEN = "redriven";

  private final MessageProcessing processing;
  private final Metrics metrics;
  private final Tracing tracing;

  /** The function as Lambda creates it. */
  public MessageProcessor() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public MessageProcessor(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), environment, new Metrics(clock));
  }

  private MessageProcessor(Wiring wiring, Map<String, String> environment, Metrics metrics) {
    this(
        wiring.messageProcessing(
            new JsonFrames(), HandlerLoader.application(environment, wiring::pushes)),
        metrics,
        wiring.tracing());
  }

  MessageProcessor(MessageProcessing processing, Metrics metrics, Tracing tracing) {
    this.processing = processing;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  @Override
  public SQSBatchResponse handleRequest(SQSEvent event, Context context) {
    OutcomeCounts counts = new OutcomeCounts();
    LambdaLogger log = context.getLogger();
    List<String> queueIds = new ArrayList<>();
    List<IncomingMessage> batch = new ArrayList<>();
    List<Segment> segments = new ArrayList<>();
    for (SQSMessage message : event.getRecords()) {
      try {
        batch.add(incoming(message));
        segments.add(begin(message, batch.get(batch.size() - 1)));
        queueIds.add(message.getMessageId());
      } catch (InvalidValue invalid) {
        log.log("message " + message.getMessageId() + " dropped: " + invalid.logged());
        counts.add(Optional.empty(), MessageOutcome.DROPPED, Optional.empty());
      }
    }
    Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
    List<Result> results;
    try {
      results = processing.process(batch, time);
      for (int i = 0; i < results.size(); i++) {
        MessageOutcome outcome = results.get(i).outcome();
        segments.get(i).outcome(outcome.name(), status(outcome));
      }
    } finally {
      segments.forEach(Segment::close);
    }
    SQSBatchResponse response = new SQSBatchResponse(new ArrayList<>());
    Map<TenantId, Integer> undelivered = new LinkedHashMap<>();
    for (int i = 0; i < results.size(); i++) {
      Result result = results.get(i);
      TenantId tenant = batch.get(i).tenant();
      String id = queueIds.get(i);
      counts.add(Optional.of(tenant), result.outcome(), Optional.of(batch.get(i).connectionId()));
      undelivered.merge(tenant, result.undelivered(), Integer::sum);
      result
          .cause()
          .ifPresent(
              cause -> log.log("message " + id + " of " + tenant + ": " + reason(result, cause)));
      if (!result.outcome().isDone()) {
        response.getBatchItemFailures().add(new SQSBatchResponse.BatchItemFailure(id));
      }
    }
    counts.publish(metrics, log);
    undelivered.forEach((tenant, frames) -> metrics.undeliveredFrames(log, tenant, frames));
    return response;
  }

  private Segment begin(SQSMessage received, IncomingMessage message) {
    Segment segment =
        tracing.begin(
            "MessageProcessor", () -> received.getAttributes().getOrDefault(TRACE_HEADER, ""));
    segment.annotate(CONNECTION_ID, message.connectionId());
    segment.annotate("tenantId", message.tenant().value());
    return segment;
  }

  /** The HTTP status that means the same as an outcome. */
  private static int status(MessageOutcome outcome) {
    return switch (outcome) {
      case PROCESSED, PROCESSED_WITHOUT_TOKEN, WOULD_THROTTLE, DUPLICATE -> 200;
      case THROTTLED, CUT_OFF -> 429;
      case SUSPENDED, DROPPED -> 403;
      case BAD_FRAME -> 400;
      case UNDECIDED -> 503;
      case FAILED -> 500;
    };
  }

  private static IncomingMessage incoming(SQSMessage message) {
    String group = message.getAttributes().getOrDefault(GROUP_ID, "");
    String[] ids = group.split(":", 2);
    if (ids.length != 2) {
      throw InvalidValue.ofSecret(GROUP_ID, group, "tenantId:sessionId");
    }
    String connectionId =
        Optional.ofNullable(message.getMessageAttributes())
            .map(attributes -> attributes.get(CONNECTION_ID))
            .map(SQSEvent.MessageAttribute::getStringValue)
            .orElseThrow(
                () -> new InvalidValue(CONNECTION_ID, "missing", "the id of the sender's socket"));
    ClientFrame frame = ClientFrame.of(message.getBody());
    return new IncomingMessage(
        new TenantId(ids[0]),
        new SessionId(ids[1]),
        connectionId,
        message.getMessageId(),
        frame.id(),
        message.getMessageAttributes().containsKey(REDRIVEN),
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

  /** The reason of a failure; with a stack trace unless a service was unavailable. */
  private static String reason(Throwable cause) {
    if (cause instanceof Unavailable unavailable) {
      return LogText.lines(unavailable.reason());
    }
    StringWriter trace = new StringWriter();
    cause.printStackTrace(new PrintWriter(trace));
    return LogText.lines(trace.toString());
  }

  /** The messages in a batch by tenant and outcome. */
  private static final class OutcomeCounts {
    private final Map<Optional<TenantId>, Map<MessageOutcome, Messages>> byTenant =
        new LinkedHashMap<>();

    /** Messages with the same outcome. */
    private static final class Messages {
      private final Set<String> connectionIds = new TreeSet<>();
      private int count;
    }

    void add(Optional<TenantId> tenant, MessageOutcome outcome, Optional<String> connectionId) {
      Messages messages =
          byTenant
              .computeIfAbsent(tenant, any -> new EnumMap<>(MessageOutcome.class))
              .computeIfAbsent(outcome, any -> new Messages());
      messages.count++;
      connectionId.ifPresent(messages.connectionIds::add);
    }

    void publish(Metrics metrics, LambdaLogger log) {
      byTenant.forEach(
          (tenant, counts) ->
              counts.forEach(
                  (outcome, messages) ->
                      metrics.messages(
                          log, tenant, outcome.name(), messages.count, messages.connectionIds)));
    }
  }
}
