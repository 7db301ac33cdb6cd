package dev.tollgate.handlers.connect;

import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import dev.tollgate.core.LogText;
import dev.tollgate.core.connect.ApplicationFunction;
import dev.tollgate.handlers.Wiring;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.Map;

/**
 * The function of an attached API's {@code $disconnect} route, in front of the application's:
 * removes the connection as {@link Disconnect} does, then invokes the application's function with
 * the same event, also if the removal failed. API Gateway ignores the answer.
 */
public final class AttachedDisconnect implements RequestStreamHandler {
  /** The time that is left for returning when the application's time is over. */
  private static final Duration FOR_RETURNING = Duration.ofSeconds(1);

  private final Disconnect disconnect;
  private final ApplicationFunction application;

  /** The function as Lambda creates it. */
  public AttachedDisconnect() {
    this(System.getenv(), InstantSource.system());
  }

  /** The function with these environment variables and this clock. */
  public AttachedDisconnect(Map<String, String> environment, InstantSource clock) {
    this(new Wiring(environment, clock));
  }

  private AttachedDisconnect(Wiring wiring) {
    this(new Disconnect(wiring.disconnection(), wiring.tracing()), wiring.applicationFunction());
  }

  AttachedDisconnect(Disconnect disconnect, ApplicationFunction application) {
    this.disconnect = disconnect;
    this.application = application;
  }

  @Override
  public void handleRequest(InputStream input, OutputStream output, Context context)
      throws IOException {
    ForwardedEvent event = ForwardedEvent.read(input);
    try {
      disconnect.handleRequest(event.parsed(), context);
    } finally {
      output.write(forwarded(event, context).getBytes(StandardCharsets.UTF_8));
    }
  }

  private String forwarded(ForwardedEvent event, Context context) {
    Duration left = Duration.ofMillis(context.getRemainingTimeInMillis()).minus(FOR_RETURNING);
    ApplicationFunction.Reply reply =
        application.invoke(event.json(), left.isNegative() ? FOR_RETURNING : left);
    if (reply instanceof ApplicationFunction.Answered answered) {
      return answered.payload();
    }
    String cause = ((ApplicationFunction.Failed) reply).cause();
    context.getLogger().log(LogText.lines("the application's $disconnect failed: " + cause));
    return ForwardedEvent.answer(500);
  }
}
