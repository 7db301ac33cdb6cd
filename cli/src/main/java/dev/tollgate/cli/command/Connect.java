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
import dev.tollgate.socket.Refusal;
import dev.tollgate.socket.Route;
import dev.tollgate.socket.TollgateSocket;
import dev.tollgate.socket.TollgateSocketBuilder;
import java.net.URI;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
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
  /** The attempts of a request that API Gateway throttles, and the first wait, which is doubled. */
  private static final int MAX_ATTEMPTS = 4;

  private static final Duration FIRST_WAIT = Duration.ofSeconds(1);

  private final Tollgate tollgate;
  private final Shell shell;

  /** The limits that were printed when a socket began to wait. */
  private final Set<Refusal> printed = new HashSet<>();

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
      description =
          "How long to keep the admitted sockets open. Default: 0. If one is closed earlier, the"
              + " exit code is 1.")
  private long holdSeconds;

  @Option(
      names = "--retry",
      description =
          "Wait in line if refused, and open sockets again that are dropped. Without it, each socket is"
              + " tried once.")
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
      throw Failure.usage("--sockets: " + sockets + " (expected: a whole number, 1 or more)");
    }
    tollgate.confirmInProduction(
        confirmation.isGiven(),
        "Connect as a client of " + tenantId + "?",
        "connect as a client of " + tenantId);
    Api api = tollgate.sessions(token);
    JsonNode joined = session.map(this::existing).orElseGet(() -> create(api));
    String sessionId = joined.path("sessionId").asText();
    EventLoop loop = new EventLoop(shell);
    URI address = address(joined);
    try (Sockets opened =
        new Sockets(
            loop,
            shell,
            () -> socket(api, sessionId, address),
            address,
            retry,
            (event, line) -> tollgate.print(event, List.of(line)),
            this::print,
            () -> throttledByGateway(tenantId),
            tollgate.format().isForPeople())) {
      boolean admitted = true;
      for (int number = 1; number <= sockets; number++) {
        admitted &= opened.open(number);
      }
      if (!admitted) {
        opened.refusal().filter(refusal -> !printed.contains(refusal)).ifPresent(this::print);
      }
      boolean replied =
          message.isEmpty() || opened.exchange(Json.write(Json.valueOf(message.get())));
      boolean held = opened.hold(Duration.ofSeconds(holdSeconds));
      return admitted && replied && held ? 0 : ExitCode.FAILED;
    }
  }

  private TollgateSocketBuilder socket(Api api, String sessionId, URI address) {
    return TollgateSocket.builder(api.uri(), tenantId)
        .session(sessionId, address)
        .stopWhenSessionEnds()
        .headers(api::headers)
        .httpClient(Api.client())
        .route(silo ? Route.SILO : Route.POOL);
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
        throw throttledByGateway(tenantId);
      }
      shell.sleep(wait);
    }
  }

  /** The failure of a request that API Gateway throttles again and again. */
  static Failure throttledByGateway(String tenantId) {
    return Failure.of(
        "429 Too Many Requests: API Gateway throttles the session API for all clients. This is"
            + " not a limit of tenant `"
            + tenantId
            + "`. Retry later, or raise the throttle of the stage.");
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

  /** The URL of the session's sockets. */
  private URI address(JsonNode joined) {
    return Json.text(joined, "webSocketUrl")
        .map(URI::create)
        .orElseGet(() -> tollgate.target().outputs().sockets());
  }

  /** Prints the limit that refuses a socket, and when it may be tried again. */
  private void print(Refusal refusal) {
    printed.add(refusal);
    JsonNode session = Json.parse(refusal.document()).orElseGet(Json::object);
    tollgate.print(session, describe(session, refusal));
  }

  private static List<String> describe(JsonNode session, Refusal refusal) {
    JsonNode admission = session.path("admission");
    JsonNode limits = session.path("limits");
    Optional<String> full = full(session);
    if (refusal.retryAfter().isEmpty() && full.isPresent()) {
      return List.of("Waiting does not help: " + full.get() + " Close one first.");
    }
    String when =
        refusal
            .retryAfter()
            .map(
                time ->
                    "Retry in "
                        + time.toSeconds()
                        + " s"
                        + Json.instant(admission, "nextAttemptAt")
                            .map(at -> " (" + at + ")")
                            .orElse("")
                        + (refusal.ahead().isPresent()
                            ? ", " + Sockets.place(refusal.ahead().getAsLong())
                            : ""))
            .orElse("The time of the next attempt is unknown");
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
