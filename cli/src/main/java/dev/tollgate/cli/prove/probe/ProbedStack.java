package dev.tollgate.cli.prove.probe;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.http.Response;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.terminal.Shell;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.function.Supplier;

/** The probe stack, as questions reach it. */
final class ProbedStack {
  private static final Duration INTERVAL = Duration.ofSeconds(5);

  /** The attempts within three minutes: logs and schedules may be late. */
  private static final int ATTEMPTS = 36;

  /** Tells the log lines of this run from those of others. */
  private final String run = "run-" + UUID.randomUUID().toString().substring(0, 8);

  private final Map<String, String> outputs;
  private final Account account;
  private final Shell shell;
  private Optional<JsonNode> events = Optional.empty();

  ProbedStack(Map<String, String> outputs, Account account, Shell shell) {
    this.outputs = Map.copyOf(outputs);
    this.account = account;
    this.shell = shell;
  }

  /**
   * An output of the stack.
   *
   * @throws Failure if the stack has no such output
   */
  String output(String name) {
    return Optional.ofNullable(outputs.get(name))
        .orElseThrow(
            () -> Failure.of("The probe stack has no output " + name + ". Deploy it again."));
  }

  /** The account with the role that may write some attributes of the table. */
  Account writer() {
    return account.as(output("WriterRole"));
  }

  /** The account as the caller of the command. */
  Account caller() {
    return account;
  }

  /** The query string of a handshake with this run's id and one more parameter. */
  Map<String, String> query(String name, String value) {
    return Map.of("run", run, name, value);
  }

  /** Opens a connection to the API whose frames go to SQS. */
  ProbeSocket open() {
    return ProbeSocket.open(output("FramesURL"), query("connect", "200"));
  }

  /** {@code allowed}, or the name of the error. */
  static String outcome(Response response) {
    return response.succeeded()
        ? "allowed"
        : Json.text(response.json(), "__type")
            .orElse("status " + response.status())
            .replaceFirst(".*#", "");
  }

  /**
   * Repeats an attempt until it has a result.
   *
   * @param what what is awaited, for the failure
   * @throws Failure if there is no result within three minutes
   */
  <T> T await(String what, Supplier<Optional<T>> attempt) {
    for (int i = 0; i < ATTEMPTS; i++) {
      Optional<T> result = attempt.get();
      if (result.isPresent()) {
        return result.get();
      }
      shell.sleep(INTERVAL);
    }
    throw Failure.of(
        "No " + what + " within " + INTERVAL.multipliedBy(ATTEMPTS).toSeconds() + " s.");
  }

  /**
   * The redacted events of one connection that was opened and closed: {@code authorizer}, {@code
   * connect} and {@code disconnect}.
   */
  JsonNode events() {
    if (events.isEmpty()) {
      // Only this connection has the id, so that all events are its own.
      String one = run + "-events";
      ProbeSocket.open(output("FramesURL"), Map.of("run", one)).close();
      JsonNode authorizer = event("%" + one + "%", event -> event.has("methodArn"));
      JsonNode connect = event("%" + one + "%", event -> hasType(event, "CONNECT"));
      String connection = connect.at("/requestContext/connectionId").asText();
      JsonNode disconnect = event("%" + connection + "%", event -> hasType(event, "DISCONNECT"));
      Redaction redaction =
          new Redaction(
              Map.of(
                  one,
                  "<run>",
                  connection,
                  "<connection>",
                  connect.at("/requestContext/apiId").asText(),
                  "<api>"));
      ObjectNode all = Json.object();
      all.set("authorizer", redaction.of(authorizer));
      all.set("connect", redaction.of(connect));
      all.set("disconnect", redaction.of(disconnect));
      events = Optional.of(all);
    }
    return events.get();
  }

  private static boolean hasType(JsonNode event, String type) {
    return !event.has("methodArn") && event.at("/requestContext/eventType").asText().equals(type);
  }

  /** The first event in the functions' log that a pattern of CloudWatch Logs and a filter match. */
  private JsonNode event(String pattern, Predicate<JsonNode> wanted) {
    ObjectNode request =
        Json.object().put("logGroupName", output("LogGroup")).put("filterPattern", pattern);
    return await(
        "event of a function in log group " + output("LogGroup"),
        () -> {
          Optional<JsonNode> found = Optional.empty();
          Optional<String> next = Optional.of("");
          request.remove("nextToken");
          while (found.isEmpty() && next.isPresent()) {
            JsonNode page = filterLogEvents(request);
            for (JsonNode line : page.path("events")) {
              found = found.or(() -> Json.parse(line.path("message").asText()).filter(wanted));
            }
            next = Json.text(page, "nextToken");
            next.ifPresent(token -> request.put("nextToken", token));
          }
          return found;
        });
  }

  private JsonNode filterLogEvents(JsonNode request) {
    return account.call("logs", "Logs_20140328.FilterLogEvents", request).orThrow().json();
  }
}
