package dev.tollgate.socket;

import dev.tollgate.socket.Transport.Exchange;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;

/** Asks the session API, and says what its answers mean for a socket. */
final class SessionApi {
  private static final String SUSPENDED = "urn:tollgate:problem:suspended";

  private final URI url;
  private final String tenantId;
  private final RequestHeaders headers;
  private final Transport transport;
  private final Scheduler scheduler;

  SessionApi(
      URI url, String tenantId, RequestHeaders headers, Transport transport, Scheduler scheduler) {
    this.url = url;
    this.tenantId = tenantId;
    this.headers = headers;
    this.transport = transport;
    this.scheduler = scheduler;
  }

  /** The meaning of an answer. */
  sealed interface Result {
    /** The session was created or renewed. */
    record Granted(Session session) implements Result {}

    /**
     * The session exists.
     *
     * @param refusal the limit that refuses a connection now; empty if there is none
     * @param idle how long the session lasts if nobody uses it; empty if unknown
     */
    record Shown(Optional<Refusal> refusal, Optional<Duration> idle) implements Result {}

    /** There is no such session, or no such tenant if no session was named. */
    record Gone() implements Result {}

    /** Asking again is useless. */
    record Final(CloseReason reason) implements Result {}

    /**
     * Asking again may help.
     *
     * @param retryAfter not earlier than this, if the server said so
     */
    record Later(Interruption why, Optional<Duration> retryAfter) implements Result {}
  }

  /** Creates a session, or renews the one with this id. */
  void put(Optional<String> sessionId, Consumer<Result> then) {
    send("PUT", sessionId, then);
  }

  /** Shows a session. */
  void show(Session session, Consumer<Result> then) {
    send("GET", Optional.of(session.sessionId()), then);
  }

  /** Ends a session. */
  void end(Session session, Consumer<Result> then) {
    send("DELETE", Optional.of(session.sessionId()), then);
  }

  private void send(String method, Optional<String> sessionId, Consumer<Result> then) {
    String query =
        "?tenantId="
            + encode(tenantId)
            + sessionId.map(id -> "&sessionId=" + encode(id)).orElse("");
    URI uri = URI.create(url + query);
    scheduler.when(
        call(method, uri),
        first -> {
          if (first instanceof Exchange.Answer answer && answer.status() == 401) {
            // The token may have expired on its way.
            scheduler.when(call(method, uri), second -> then.accept(result(second)));
          } else {
            then.accept(result(first));
          }
        });
  }

  /** Sends a request. If there are no headers for it, or it cannot be sent, nobody answers. */
  private CompletionStage<Exchange> call(String method, URI uri) {
    Map<String, String> own;
    try {
      own = headers.of(method, uri);
    } catch (RuntimeException failure) {
      return failed("No headers for the request: " + failure);
    }
    try {
      return transport.call(method, uri, own);
    } catch (RuntimeException failure) {
      // Its message may have the value of a header, a token.
      return failed("The request cannot be sent: " + failure.getClass().getSimpleName());
    }
  }

  private static CompletionStage<Exchange> failed(String detail) {
    return CompletableFuture.completedFuture(new Exchange.Failed(detail));
  }

  private Result result(Exchange exchange) {
    if (exchange instanceof Exchange.Failed failed) {
      return new Result.Later(new Interruption.NoAnswer(failed.detail()), Optional.empty());
    }
    Exchange.Answer answer = (Exchange.Answer) exchange;
    Json body = Json.object(answer.body());
    String detail =
        body.text("detail").or(() -> body.text("title")).or(() -> body.text("message")).orElse("");
    return switch (answer.status()) {
      case 200, 201 -> success(answer, body);
      case 204, 404 -> new Result.Gone();
      case 401 -> new Result.Final(new CloseReason.Unauthorized(detail));
      case 403 ->
          new Result.Final(
              body.text("type").filter(SUSPENDED::equals).isPresent()
                  ? new CloseReason.Suspended()
                  : new CloseReason.Forbidden(detail));
      case 429 -> later(answer, detail);
      default ->
          answer.status() >= 500
              ? later(answer, detail)
              : new Result.Final(new CloseReason.Invalid(answer.status(), detail));
    };
  }

  private static Result later(Exchange.Answer answer, String detail) {
    return new Result.Later(
        new Interruption.NotServed(answer.status(), detail), answer.retryAfter());
  }

  private Result success(Exchange.Answer answer, Json body) {
    Optional<String> sessionId = body.text("sessionId");
    Optional<URI> webSocketUrl = body.text("webSocketUrl").flatMap(SessionApi::webSocketUrl);
    if (sessionId.isPresent() && webSocketUrl.isPresent()) {
      return new Result.Granted(new Session(tenantId, sessionId.get(), webSocketUrl.get()));
    }
    Json admission = body.child("admission");
    return switch (admission.raw("admitted").orElse("")) {
      case "true" -> new Result.Shown(Optional.empty(), idle(body));
      case "false" -> new Result.Shown(Optional.of(refusal(answer, admission)), idle(body));
      default ->
          new Result.Later(
              new Interruption.NoAnswer("The answer is not that of a session API: " + url),
              Optional.empty());
    };
  }

  private static Optional<URI> webSocketUrl(String text) {
    try {
      URI uri = new URI(text);
      String scheme = String.valueOf(uri.getScheme()).toLowerCase(Locale.ROOT);
      return Optional.of(uri)
          .filter(it -> scheme.equals("wss") || scheme.equals("ws"))
          .filter(it -> it.getHost() != null && it.getRawFragment() == null);
    } catch (URISyntaxException notOne) {
      return Optional.empty();
    }
  }

  private static Refusal refusal(Exchange.Answer answer, Json admission) {
    return new Refusal(
        admission.text("reason").orElse(""),
        admission.text("detail").orElse(""),
        admission.number("ahead"),
        seconds(admission.number("retryAfterSeconds")).or(answer::retryAfter),
        answer.body());
  }

  private static Optional<Duration> idle(Json body) {
    return seconds(body.child("limits").number("sessionTTL"));
  }

  private static Optional<Duration> seconds(OptionalLong number) {
    return number.isEmpty()
        ? Optional.empty()
        : Optional.of(Duration.ofSeconds(Math.max(1, number.getAsLong())));
  }

  /** Encodes the value of a parameter. */
  static String encode(String value) {
    return URLEncoder.encode(value, StandardCharsets.UTF_8);
  }
}
