package dev.tollgate.cli.prove.probe;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.tollgate.cli.http.Failure;
import dev.tollgate.cli.http.Json;
import dev.tollgate.cli.prove.account.Account;
import dev.tollgate.cli.prove.probe.ProbeSocket.Refusal;
import dev.tollgate.cli.terminal.Shell;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Function;

/** Asks AWS, through the probe stack, what its documentation leaves open. */
public final class Probe {
  private static final Redaction REDACTION = new Redaction(Map.of());

  private static final String MESSAGE = "{\"action\":\"%s\",\"id\":\"m1\",\"message\":1}";

  /** The questions with the ways to their answers. */
  private static final Map<Question, Function<ProbedStack, JsonNode>> ALL = new LinkedHashMap<>();

  static {
    add(
        "sqs-success",
        "Which integration response does API Gateway select when SQS takes a message, and what does"
            + " SQS answer?",
        stack -> frame(stack, MESSAGE.formatted("sqs")));
    add(
        "sqs-failed-entry",
        "Which integration response does API Gateway select when SQS refuses the only entry of a"
            + " batch, and what does SQS answer?",
        stack -> frame(stack, "{\"action\":\"sqs\",\"id\":\"m1\",\"message\":\"\uFFFF\"}"));
    add(
        "sqs-malformed-id",
        "Which integration response does API Gateway select when SQS refuses a whole batch, and what"
            + " does SQS answer?",
        stack -> frame(stack, "{\"action\":\"sqs\",\"id\":\"a b\",\"message\":1}"));
    add(
        "sqs-missing-queue",
        "Which integration response does API Gateway select when a queue does not exist, and what"
            + " does SQS answer?",
        stack -> frame(stack, MESSAGE.formatted("missing")));
    add(
        "sqs-denied",
        "Which integration response does API Gateway select when its role may not send, and what"
            + " does SQS answer?",
        stack -> frame(stack, MESSAGE.formatted("denied")));
    add(
        "template-scan",
        "Does `$input.path('$..MessageId')` find a value at any depth in a mapping template?",
        stack -> frame(stack, MESSAGE.formatted("scan")));
    add(
        "throttled-route",
        "Which frame does a client get when the function of a route is throttled?",
        stack -> frame(stack, MESSAGE.formatted("throttled")));
    add(
        "handshake-statuses",
        "Which status does a client get for each way in which a handshake can fail?",
        Probe::handshakeStatuses);
    add(
        "handshake-headers",
        "Which headers of the answer of `$connect` reach a client whose handshake is refused?",
        Probe::handshakeHeaders);
    add(
        "authorizer-event",
        "Which event does an authorizer get?",
        stack -> stack.events().path("authorizer"));
    add(
        "connect-event",
        "Which event does the function of `$connect` get?",
        stack -> stack.events().path("connect"));
    add(
        "disconnect-event",
        "Which event does the function of `$disconnect` get, and has it the authorizer's context?",
        stack -> stack.events().path("disconnect"));
    add(
        "direct-schedule",
        "Which messages does a schedule send with `SendMessageBatch`?",
        Probe::directSchedule);
    add(
        "attribute-conditions",
        "Which writes does a condition on `dynamodb:Attributes` allow, also with nested paths?",
        Probe::attributeConditions);
    add(
        "table-policy",
        "Does DynamoDB accept the actions in a table's policy, and deny others than its roles?",
        Probe::tablePolicy);
  }

  private Probe() {}

  private static void add(String name, String text, Function<ProbedStack, JsonNode> answer) {
    ALL.put(new Question(name, text), answer);
  }

  /** The questions, in the order in which they are asked. */
  public static List<Question> questions() {
    return List.copyOf(ALL.keySet());
  }

  /**
   * Asks all questions. It takes a few minutes on AWS, because a schedule runs once a minute and
   * logs appear late.
   *
   * @param outputs the outputs of the probe stack
   * @param account the account of the stack, as a caller that may assume the stack's role, read its
   *     logs and receive its messages
   * @param shell waits between attempts
   * @param consumer receives each answer as soon as it is known
   * @param unanswered receives each question that got no answer, and why
   * @throws Failure if the thread is interrupted
   */
  public static void ask(
      Map<String, String> outputs,
      Account account,
      Shell shell,
      Consumer<Answer> consumer,
      BiConsumer<Question, Failure> unanswered) {
    ProbedStack stack = new ProbedStack(outputs, account, shell);
    ALL.forEach(
        (question, answer) -> {
          try {
            consumer.accept(new Answer(question.name(), answer.apply(stack)));
          } catch (Failure failure) {
            if (Thread.currentThread().isInterrupted()) {
              throw failure;
            }
            unanswered.accept(question, failure);
          }
        });
  }

  /** The answer to one frame. The probe's templates encode the body that they were given. */
  private static JsonNode frame(ProbedStack stack, String frame) {
    try (ProbeSocket socket = stack.open()) {
      String text = socket.ask(frame);
      JsonNode answer = Json.parse(text).orElseGet(() -> TextNode.valueOf(text));
      if (answer instanceof ObjectNode object && object.has("body")) {
        String body = new String(Base64.getDecoder().decode(object.path("body").asText()), UTF_8);
        object.set("body", Json.parse(body).orElseGet(() -> TextNode.valueOf(body)));
      }
      return REDACTION.of(answer);
    }
  }

  private static JsonNode handshakeStatuses(ProbedStack stack) {
    ObjectNode statuses = Json.object();
    String url = stack.output("FramesURL");
    statuses.put("authorizer allows, $connect answers 200", status(url, stack.query("a", "b")));
    statuses.put("an identity source is absent", status(url, Map.of()));
    statuses.put("authorizer denies", status(url, stack.query("authorizer", "deny")));
    statuses.put("authorizer throws", status(url, stack.query("authorizer", "throw")));
    for (String answer : List.of("400", "429", "503")) {
      statuses.put("$connect answers " + answer, status(url, stack.query("connect", answer)));
    }
    statuses.put("$connect throws", status(url, stack.query("connect", "throw")));
    statuses.put(
        "authorizer is throttled",
        status(stack.output("ThrottledAuthorizerURL"), stack.query("a", "b")));
    statuses.put(
        "$connect is throttled",
        status(stack.output("ThrottledConnectURL"), stack.query("a", "b")));
    return statuses;
  }

  private static int status(String url, Map<String, String> query) {
    return ProbeSocket.tryHandshake(url, query).status();
  }

  private static JsonNode handshakeHeaders(ProbedStack stack) {
    Refusal refused =
        ProbeSocket.tryHandshake(stack.output("FramesURL"), stack.query("connect", "429"));
    ObjectNode headers = Json.object();
    for (String name : List.of("Probe-Header", "Retry-After")) {
      headers.put(name, refused.headers().firstValue(name).isPresent() ? "forwarded" : "dropped");
    }
    return headers;
  }

  /** The two messages of one minute, which have the same body. */
  private static JsonNode directSchedule(ProbedStack stack) {
    ObjectNode request =
        Json.object().put("QueueUrl", stack.output("DirectQueue")).put("MaxNumberOfMessages", 10);
    request.putArray("MessageSystemAttributeNames").add("All");
    request.putArray("MessageAttributeNames").add("All");
    JsonNode message =
        stack.await(
            "message of the schedule",
            () ->
                Optional.of(
                        stack
                            .caller()
                            .call("sqs", "AmazonSQS.ReceiveMessage", request)
                            .orThrow()
                            .json()
                            .path("Messages")
                            .path(0))
                    .filter(JsonNode::isObject));
    return REDACTION.of(message);
  }

  private static JsonNode attributeConditions(ProbedStack stack) {
    Account writer = stack.writer();
    ObjectNode outcomes = Json.object();
    write(stack, writer, outcomes, "granted attribute", "SET admitted = :one", "");
    write(stack, writer, outcomes, "granted map", "SET #line = :map", "");
    write(stack, writer, outcomes, "path in a granted map", "SET #line.#a = :one", "");
    write(
        stack,
        writer,
        outcomes,
        "condition on a path in a granted map",
        "SET admitted = :one",
        "#line.#a = :one");
    write(stack, writer, outcomes, "other attribute", "SET #level = :one", "");
    write(stack, writer, outcomes, "path in another attribute", "SET #level.#a = :one", "");
    write(
        stack,
        writer,
        outcomes,
        "path in another attribute that ends with a granted name",
        "SET #level.admitted = :one",
        "");
    write(
        stack,
        writer,
        outcomes,
        "condition on another attribute",
        "SET admitted = :one",
        "attribute_not_exists(#level)");
    return outcomes;
  }

  private static void write(
      ProbedStack stack,
      Account writer,
      ObjectNode outcomes,
      String name,
      String update,
      String condition) {
    ObjectNode request = Json.object().put("TableName", stack.output("Table"));
    ObjectNode key = request.putObject("Key");
    key.putObject("tenantId").put("S", "probe");
    key.putObject("key").put("S", "row");
    request.put("UpdateExpression", update);
    if (!condition.isEmpty()) {
      request.put("ConditionExpression", condition);
    }
    // DynamoDB refuses names and values that no expression uses.
    String used = update + condition;
    for (String placeholder : List.of("line", "level", "a")) {
      if (used.matches(".*#" + placeholder + "\\b.*")) {
        request.withObject("/ExpressionAttributeNames").put("#" + placeholder, placeholder);
      }
    }
    if (used.contains(":one")) {
      request.withObject("/ExpressionAttributeValues").putObject(":one").put("N", "1");
    }
    if (used.contains(":map")) {
      request.withObject("/ExpressionAttributeValues").putObject(":map").putObject("M");
    }
    outcomes.put(
        name,
        ProbedStack.outcome(writer.call("dynamodb", "DynamoDB_20120810.UpdateItem", request)));
  }

  private static JsonNode tablePolicy(ProbedStack stack) {
    ObjectNode outcomes = Json.object();
    ObjectNode scan = Json.object().put("TableName", stack.output("Table"));
    outcomes.put(
        "Scan by another principal with all permissions",
        ProbedStack.outcome(stack.caller().call("dynamodb", "DynamoDB_20120810.Scan", scan)));
    write(stack, stack.writer(), outcomes, "UpdateItem by the role", "SET admitted = :one", "");
    return outcomes;
  }
}
