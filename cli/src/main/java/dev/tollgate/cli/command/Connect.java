package dev.tollgate.cli.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Api;
import dev.tollgate.cli.http.ExitCode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Problem;
import dev.tollgate.cli.http.Response;
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
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command {@code tollgate connect}: opens WebSockets as a client does. */
@Command(
    name = "connect",
    description = "Open WebSockets on a tenant's session and show which are admitted.")
final class Connect implements Callable<Integer> {
  /** The command gives up after this many further retries that admit no socket. */
  private static final int MAX_FRUITLESS_RETRIES = 3;

  /** The attempts of a request that API Gateway throttles, and the first wait, which is doubled. */
  private static final int MAX_ATTEMPTS = 4;

  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);

  private final Tollgate tollgate;
  private final Shell shell;

  @Parameters(paramLabel = "TENANT")
  private String tenantId = "";

  @Option(
      names = "--sockets",
      paramLabel = "N",
      description = "Number of sockets to open, one after another. Default: 1.")
  private int sockets = 1;

  @Option(
      names = "--session",
      paramLabel = "ID",
      description = "Use an existing session instead of creating one.")
  private Optional<String> session = Optional.empty();

  @Option(
      names = "--token",
      paramLabel = "JWT",
      description = "The tenant's JSON Web Token, if the session API requires one.")
  private Optional<String> token = Optional.empty();

  @Option(
      names = "--hold",
      paramLabel = "SECONDS",
      description = "How long to keep the admitted sockets open. Default: 0.")
  private long holdSeconds;

  @Option(
      names = "--retry",
      description = "Retry refused sockets after the time that the session API returns.")
  private boolean retry;

  @Option(
      names = "--send",
      paramLabel = "MESSAGE",
      description =
          "Send a message on the first socket and wait for the reply. MESSAGE is JSON or plain text.")
  private Optional<String> message = Optional.empty();

  @Option(
      names = "--silo",
      description = "Send the message through the tenant's own queue instead of the shared queue.")
  private boolean silo;

  @Mixin private Confirmation confirmation = new Confirmation();

  Connect(Tollgate tollgate, Shell shell) {
    this.tollgate = tollgate;
    this.shell = shell;
  }

  @Override
  public Integer call() {
    if (sockets < 1) {
      throw Failure.usage("--sockets: " + sockets + " (expected: > 0)");
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Connect as a client of " + tenantId + "?",
        "connect as a client of " + tenantId);
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
        if (!opened.open(number)) {
          refused.add(number);
        }
      }
      refused = retry(api, sessionId, opened, refused);
      boolean replied = message.isEmpty() || opened.exchange(frame(message.get()));
      opened.hold(Duration.ofSeconds(holdSeconds));
      return refused.isEmpty() && replied ? 0 : ExitCode.FAILED;
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
    Response created = send(api, "PUT", Api.query(Map.of("tenantId", tenantId)));
    JsonNode document = created.json();
    tollgate.print(
        created,
        List.of(
            "Session "
                + Json.text(document, "sessionId").orElseThrow(() -> Failure.rejected(created))
                + " of "
                + tenantId
                + Json.instant(document, "expiresAt")
                    .map(end -> ", expires at " + end)
                    .orElse("")));
    return document;
  }

  /** Sends a request to the session API. While API Gateway throttles the API, it is repeated. */
  private Response send(Api api, String method, String query) {
    Duration wait = FIRST_WAIT;
    for (int attempt = 1; ; attempt++, wait = wait.multipliedBy(2)) {
      Response response = api.send(method, "?" + query, Optional.empty());
      if (!response.isThrottledByGateway()) {
        return orThrow(response);
      }
      if (attempt == MAX_ATTEMPTS) {
        throw Failure.of(
            "429 Too Many Requests: API Gateway throttles the session API for all clients. This is"
                + " not a limit of tenant `"
                + tenantId
                + "`. Retry later, or raise the throttle of the stage.");
      }
      shell.sleep(wait);
    }
  }

  /** Returns a successful response; a failure for a missing token or session says what to do. */
  private Response orThrow(Response response) {
    if (response.status() == 401) {
      throw Failure.of(
          "401: a valid token of tenant "
              + tenantId
              + " is required; pass it with --token. The server's reason: "
              + response.headers().firstValue("WWW-Authenticate").orElse("Unauthorized"));
    }
    if (response.status() == 429 && response.retryAfter().isPresent()) {
      ObjectNode problem = response.problem().document();
      String why = Json.text(problem, "detail").map(detail -> detail + ". ").orElse("");
      long seconds = response.retryAfter().get().toSeconds();
      problem.put(
          "detail", why + "Retry in " + seconds + " s, or use an existing session with --session");
      throw Failure.rejected(new Problem(problem));
    }
    return response.orThrow();
  }

  /** The URL of the session's sockets, with the two parameters of the handshake. */
  private URI address(JsonNode joined, String sessionId) {
    URI base =
        Json.text(joined, "webSocketUrl")
            .map(URI::create)
            .orElseGet(() -> tollgate.target().outputs().sockets());
    return base.getRawQuery() == null ? URI.create(base + "?" + query(sessionId)) : base;
  }

  private String query(String sessionId) {
    Map<String, String> query = new LinkedHashMap<>();
    query.put("tenantId", tenantId);
    query.put("sessionId", sessionId);
    return Api.query(query);
  }

  /**
   * Prints when refused sockets may retry; with {@code --retry}, waits and retries them.
   *
   * @return the numbers of the sockets that are still refused
   */
  private List<Integer> retry(Api api, String sessionId, Sockets opened, List<Integer> refused) {
    List<Integer> waiting = refused;
    int fruitless = 0;
    while (!waiting.isEmpty()) {
      Response response = send(api, "GET", query(sessionId));
      OptionalLong seconds = retryAfterSeconds(response);
      tollgate.print(response, describe(response.json(), seconds));
      if (!retry || seconds.isEmpty() || fruitless > MAX_FRUITLESS_RETRIES) {
        return waiting;
      }
      shell.sleep(Duration.ofSeconds(Math.max(1, seconds.getAsLong())));
      List<Integer> still = new ArrayList<>();
      for (int number : waiting) {
        // After the first refusal, the others would be refused as well.
        if (!still.isEmpty() || !opened.open(number)) {
          still.add(number);
        }
      }
      fruitless = still.size() < waiting.size() ? 0 : fruitless + 1;
      waiting = still;
    }
    return waiting;
  }

  /** Seconds until the next attempt; empty if unknown, for example with too many open sockets. */
  private static OptionalLong retryAfterSeconds(Response session) {
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
    Optional<String> full = full(session);
    if (seconds.isEmpty() && full.isPresent()) {
      return List.of("Waiting does not help: " + full.get() + " Close one first.");
    }
    String when =
        seconds.isEmpty()
            ? "The time of the next attempt is unknown"
            : seconds.getAsLong() == 0
                ? "Retry now"
                : "Retry in "
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
        "  open connections: %s of %s in this session, %s of %s for the tenant"
            .formatted(
                Json.text(session, "connections").orElse("?"),
                Json.text(limits, "connectionsPerSession").orElse("?"),
                Json.text(session, "tenantConnections").orElse("?"),
                Json.text(limits, "tenantConnections").orElse("?")),
        "  new connections per minute: %s per session, %s for the tenant"
            .formatted(
                Json.text(limits, "sessionPerMinute").orElse("?"),
                Json.text(limits, "tenantPerMinute").orElse("?")));
  }

  /** Whose connections are at their limit, if that is why the session is refused. */
  private static Optional<String> full(JsonNode session) {
    return Json.text(session.path("admission"), "reason")
        .flatMap(
            reason ->
                switch (reason) {
                  case "SESSION_CONNECTIONS" ->
                      full(session, "session", "connections", "connectionsPerSession");
                  case "TENANT_CONNECTIONS" ->
                      full(session, "tenant", "tenantConnections", "tenantConnections");
                  default -> Optional.empty();
                });
  }

  private static Optional<String> full(JsonNode session, String who, String count, String limit) {
    return Optional.of(
        "the %s has %s of %s connections."
            .formatted(
                who,
                Json.text(session, count).orElse("?"),
                Json.text(session.path("limits"), limit).orElse("?")));
  }
}
