package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.connect.AdmissionDecision;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.core.connect.Registration;
import dev.tollgate.core.connect.Ticket;
import dev.tollgate.core.tracing.Segment;
import dev.tollgate.core.tracing.Tracing;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The function of an attached API's {@code $connect} route, in front of the application's:
 * registers the connection as {@link Connect} does, then invokes the application's function with
 * the same event, and passes its answer on. If the application does not answer with a status 2xx,
 * the registration is undone.
 */
public final class AttachedConnect implements RequestStreamHandler {
  /** The application failed or did not answer in time. */
  private static final int FAILED = 500;

  /**
   * The time that is left for undoing a registration when the application's time is over. DynamoDB
   * and SQS answer in milliseconds. If they do not, the housekeeper corrects the count.
   */
  static final Duration FOR_UNDOING = Duration.ofSeconds(6);

  private final Registration registration;
  private final ApplicationFunction application;
  private final Metrics metrics;
  private final Tracing tracing;

  /** The function as Lambda creates it. */
  public AttachedConnect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public AttachedConnect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock), new Metrics(clock));
  }

  private AttachedConnect(Wiring wiring, Metrics metrics) {
    this(wiring.registration(), wiring.applicationFunction(), metrics, wiring.tracing());
  }

  AttachedConnect(
      Registration registration,
      ApplicationFunction application,
      Metrics metrics,
      Tracing tracing) {
    this.registration = registration;
    this.application = application;
    this.metrics = metrics;
    this.tracing = tracing;
  }

  @Override
  public void handleRequest(InputStream input, OutputStream output, Context context)
      throws IOException {
    ForwardedEvent event = ForwardedEvent.read(input);
    try (Segment segment =
        tracing.begin("Connect", () -> AuthorizerContext.trace(event.authorizer()))) {
      segment.annotate(WebSocketEvents.CONNECTION, event.connectionId());
      output.write(
          event.answered(connect(event, context, segment)).getBytes(StandardCharsets.UTF_8));
    }
  }

  private String connect(ForwardedEvent event, Context context, Segment segment) {
    AdmissionDecision decision = AuthorizerContext.decision(event.authorizer());
    TenantId tenant = AuthorizerContext.tenant(event.authorizer());
    segment.annotate(AuthorizerContext.TENANT, tenant.value());
    if (decision instanceof AdmissionDecision.Refused refused) {
      segment.outcome(refused.refusal().name(), refused.refusal().status());
      return ForwardedEvent.answer(refused.refusal().status());
    }
    Ticket ticket = ((AdmissionDecision.Ticketed) decision).ticket();
    long before = context.getRemainingTimeInMillis();
    Registration.Result result = registration.register(ticket, event.connectionId());
    Answer answer =
        result instanceof Registration.Registered registered
            ? afterRegistration(event, ticket, registered, before, context)
            : Answer.of((Registration.NotRegistered) result);
    metrics.connection(
        context.getLogger(),
        tenant,
        answer.outcome(),
        Optional.of(event.connectionId()),
        answer.failure().map(LogText::lines));
    segment.outcome(answer.outcome(), answer.status());
    return answer.json();
  }

  private Answer afterRegistration(
      ForwardedEvent event,
      Ticket ticket,
      Registration.Registered registered,
      long before,
      Context context) {
    Answer answer = ask(event, Connect.outcomeName(ticket, registered), context);
    if (answer.status() < 200 || answer.status() > 299) {
      Duration took = Duration.ofMillis(before - context.getRemainingTimeInMillis());
      registration.undo(ticket, event.connectionId(), registered, took);
    }
    return answer;
  }

  private Answer ask(ForwardedEvent event, String admitted, Context context) {
    Duration limit = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(FOR_UNDOING);
    if (limit.isNegative() || limit.isZero()) {
      return Answer.failed("no time was left for the application's function");
    }
    ApplicationFunction.Reply reply;
    try {
      reply = application.invoke(event.json(), limit);
    } catch (RuntimeException failure) {
      // The registration must be undone whatever the adapter throws.
      reply = new ApplicationFunction.Failed(failure.toString());
    }
    if (reply instanceof ApplicationFunction.Failed failed) {
      return Answer.failed(failed.cause());
    }
    String json = ((ApplicationFunction.Answered) reply).payload();
    OptionalInt status = ForwardedEvent.status(json);
    if (status.isEmpty()) {
      return Answer.failed("the application's function returned no statusCode");
    }
    boolean accepts = status.getAsInt() >= 200 && status.getAsInt() <= 299;
    return new Answer(
        accepts ? admitted : "APPLICATION_REFUSED", status.getAsInt(), json, Optional.empty());
  }

  /**
   * The answer to API Gateway.
   *
   * @param outcome for the metric
   * @param failure why the application's function gave no answer; empty if it did
   */
  private record Answer(String outcome, int status, String json, Optional<String> failure) {
    static Answer of(Registration.NotRegistered refused) {
      int status = refused.refusal().status();
      return new Answer(
          refused.refusal().name(), status, ForwardedEvent.answer(status), Optional.empty());
    }

    static Answer failed(String cause) {
      return new Answer(
          "APPLICATION_FAILED", FAILED, ForwardedEvent.answer(FAILED), Optional.of(cause));
    }
  }
}
