package dev.tollgate.handlers.push;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.MessageAttribute;
import com.amazonaws.services.lambda.runtime.events.SQSEvent.SQSMessage;
import dev.tollgate.core.LogText;
import dev.tollgate.core.TenantId;
import dev.tollgate.core.Unavailable;
import dev.tollgate.core.message.Push;
import dev.tollgate.core.message.PushPage;
import dev.tollgate.core.message.Pushes;
import dev.tollgate.core.message.TenantPushes;
import dev.tollgate.handlers.Metrics;
import dev.tollgate.handlers.Wiring;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.Optional;

/**
 * The function that pushes to all sessions of a tenant: one page of sessions a message. If it
 * throws, the queue delivers the page again.
 */
public final class TenantPusher implements RequestHandler<SQSEvent, Void> {
  /** The part of the invocation's time that is reserved for the next page's request. */
  private static final Duration MARGIN = Duration.ofSeconds(8);

  private final TenantPushes pushes;
  private final Metrics metrics;

  /** The function as Lambda creates it. */
  public TenantPusher() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public TenantPusher(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock).tenantPushes(), new Metrics(clock));
  }

  TenantPusher(TenantPushes pushes, Metrics metrics) {
    this.pushes = pushes;
    this.metrics = metrics;
  }

  /**
   * Sends the pages of an event.
   *
   * @throws Unavailable if a page may not have been sent, or the next one not requested
   */
  @Override
  public Void handleRequest(SQSEvent event, Context context) {
    for (SQSMessage message : event.getRecords()) {
      PushPage page = page(message);
      Duration time = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(MARGIN);
      Optional<Pushes.Delivered> delivered = pushes.send(page, time);
      delivered.ifPresent(
          sent ->
              metrics.undeliveredFrames(context.getLogger(), page.push().tenant(), sent.failed()));
      String sent = delivered.map(Object::toString).orElse("was sent before");
      context
          .getLogger()
          .log(
              LogText.lines(
                      "push " + page.push().id() + " of " + page.push().tenant() + ": " + sent)
                  + "\n");
    }
    return null;
  }

  static PushPage page(SQSMessage message) {
    return new PushPage(
        new Push(
            new TenantId(message.getAttributes().getOrDefault("MessageGroupId", "")),
            attribute(message, "id").orElse(""),
            message.getBody()),
        attribute(message, "idExpiresAt").map(Long::parseLong).map(Instant::ofEpochSecond),
        attribute(message, "after"));
  }

  private static Optional<String> attribute(SQSMessage message, String name) {
    return Optional.ofNullable(message.getMessageAttributes().get(name))
        .map(MessageAttribute::getStringValue);
  }
}
