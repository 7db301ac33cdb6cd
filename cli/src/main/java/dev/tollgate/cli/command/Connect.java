package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Answer;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Problem;
import dev.tollgate.cli.terminal.Shell;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Opens WebSockets on a session as a client would, and tells what became of each. */
@Command(
    name = "connect",
    description = "Open sockets on a session of a tenant and see which are admitted.")
final class Connect implements Callable<Integer> {
  /** A retry that admits nobody is followed by no more than this many others. */
  private static final int FRUITLESS_RETRIES = 3;

  private final Tollgate tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "TENANT")
  private String tenantId = "";

  @Option(
      names = "--sockets",
      paramLabel = "N",
      description = "How many to open, one after the other. Default: 1.")
  private int sockets = 1;

  @Option(
      names = "--session",
      paramLabel = "ID",
      description = "A session that exists, instead of a new one.")
  private Optional<String> session = Optional.empty();

  @Option(
      names = "--token",
      paramLabel = "JWT",
      description = "The tenant's JSON Web Token, where the session API takes one.")
  private Optional<String> token = Optional.empty();

  @Option(
      names = "--hold",
      paramLabel = "SECONDS",
      description = "Keep the admitted sockets open so long. Default: 0.")
  private long holdSeconds;

  @Option(
      names = "--retry",
      description = "Wait as long as the session API says, then try the refused ones again.")
  private boolean retry;

  @Option(
      names = "--send",
      paramLabel = "MESSAGE",
      description = "Send this on the first socket and wait for the reply: JSON, or else a text.")
  private Optional<String> message = Optional.empty();

  @Option(
      names = "--silo",
      description = "Send it through the tenant's own queue instead of the shared one.")
  private boolean silo;

  Connect(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (sockets < 1) {
      throw Failure.usage("--sockets: " + sockets + " (expected: > 0)");
    }
    Api api = tollgate.sessions(token);
    JsonNode joined = session.map(this::existing).orElseGet(() -> create(api));
    String sessionId = joined.path("sessionId").asText();
    try (Sockets opened =
        new Sockets(
            address(joined, sessionId),
            shell,
            (event, line) -> tollgate.print(event, List.of(line)))) {
      List<Integer> refused = new ArrayList<>();
      for (int number = 1; number <= sockets; number++) {
        if (!opened.admits(number)) {
          refused.add(number);
        }
      }
      refused = comeBack(api, sessionId, opened, refused);
      boolean answered = message.isEmpty() || opened.exchange(frame(message.get()));
      opened.hold(Duration.ofSeconds(holdSeconds));
      return refused.isEmpty() && answered ? 0 : Failure.FAILED;
    }
  }

  private ObjectNode frame(String text) {
    ObjectNode frame = Json.object().put("action", silo ? "SiloSQS" : "PooledSQS");
    return frame.set("message", Json.valueOf(text));
  }

  private JsonNode existing(String sessionId) {
    return Json.object().put("sessionId", sessionId);
  }

  private JsonNode create(Api api) {
    Answer created =
        orFail(api.send("PUT", "?" + Api.query(Map.of("tenantId", tenantId)), Optional.empty()));
    JsonNode document = created.json();
    tollgate.print(
        created,
        List.of(
            "Session "
                + Json.text(document, "sessionId").orElseThrow(() -> Failure.refused(created))
                + " of "
                + tenantId
                + Json.instant(document, "expiresAt").map(end -> ", until " + end).orElse("")));
    return document;
  }

  /** The answer, unless it is a refusal; a lack of a token or a session says what to do. */
  private Answer orFail(Answer answer) {
    if (answer.status() == 401) {
      throw Failure.of(
          "401: a valid token of tenant "
              + tenantId
              + " is needed (--token JWT). The server says: "
              + answer.headers().firstValue("WWW-Authenticate").orElse("Unauthorized"));
    }
    if (answer.status() == 429 && answer.retryAfter().isPresent()) {
      ObjectNode problem = answer.problem().document();
      String why = Json.text(problem, "detail").map(detail -> detail + ". ").orElse("");
      long seconds = answer.retryAfter().get().toSeconds();
      problem.put(
          "detail",
          why + "Come back in " + seconds + " s, or use a session that exists: --session ID");
      throw Failure.refused(new Problem(problem));
    }
    return answer.orFail();
  }

  /** The address of the session's sockets, with the two parameters of the handshake. */
  private URI address(JsonNode joined, String sessionId) {
    URI base =
        Json.text(joined, "webSocketUrl")
            .map(URI::create)
            .orElseGet(() -> tollgate.outputs().uri("WebSocketURL"));
    return base.getRawQuery() == null ? URI.create(base + "?" + query(sessionId)) : base;
  }

  private String query(String sessionId) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("tenantId", tenantId);
    query.put("sessionId", sessionId);
    return Api.query(query);
  }

  /**
   * Says when refused sockets may come back, and with {@code --retry} waits and tries them again.
   *
   * @return those that are still refused
   */
  private List<Integer> comeBack(Api api, String sessionId, Sockets opened, List<Integer> refused) {
    List<Integer> waiting = refused;
    int fruitless = 0;
    while (!waiting.isEmpty()) {
      Answer answer = orFail(api.get("?" + query(sessionId)));
      OptionalLong seconds = retryAfterSeconds(answer);
      tollgate.print(answer, describe(answer.json(), seconds));
      if (!retry || seconds.isEmpty() || fruitless > FRUITLESS_RETRIES) {
        return waiting;
      }
      shell.sleep(Duration.ofSeconds(Math.max(1, seconds.getAsLong())));
      List<Integer> still = new ArrayList<>();
      for (int number : waiting) {
        // The first refusal tells that the others must wait as well.
        if (!still.isEmpty() || !opened.admits(number)) {
          still.add(number);
        }
      }
      fruitless = still.size() < waiting.size() ? 0 : fruitless + 1;
      waiting = still;
    }
    return waiting;
  }

  /** Seconds until the next attempt; empty when no time is known, as with too many open sockets. */
  private static OptionalLong retryAfterSeconds(Answer session) {
    JsonNode admission = session.json().path("admission");
    if (admission.path("retryAfterSeconds").canConvertToLong()) {
      return OptionalLong.of(admission.path("retryAfterSeconds").asLong());
    }
    OptionalLong header = session.headers().firstValueAsLong("Retry-After");
    return header.isEmpty() && admission.path("admitted").asBoolean() ? OptionalLong.of(0) : header;
  }

  private static List<String> describe(JsonNode session, OptionalLong seconds) {
    JsonNode admission = session.path("admission");
    JsonNode limits = session.path("limits");
    String when =
        seconds.isEmpty()
            ? "No time is known for the next attempt"
            : seconds.getAsLong() == 0
                ? "The next attempt may be made now"
                : "Come back in "
                    + seconds.getAsLong()
                    + " s"
                    + Json.instant(admission, "nextAttemptAt")
                        .map(at -> " (" + at + ")")
                        .orElse("");
    return List.of(
        when
            + Json.text(admission, "detail")
                .or(() -> Json.text(admission, "reason"))
                .map(reason -> ": " + reason)
                .orElse(""),
        "  open now: %s of %s in this session, %s of %s of the tenant"
            .formatted(
                Json.text(session, "connections").orElse("?"),
                Json.text(limits, "connectionsPerSession").orElse("?"),
                Json.text(session, "tenantConnections").orElse("?"),
                Json.text(limits, "tenantConnections").orElse("?")),
        "  new ones per minute: %s in a session, %s of the tenant"
            .formatted(
                Json.text(limits, "sessionPerMinute").orElse("?"),
                Json.text(limits, "tenantPerMinute").orElse("?")));
  }
}
