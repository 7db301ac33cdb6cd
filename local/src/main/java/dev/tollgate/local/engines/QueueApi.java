package dev.tollgate.local.engines;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.QueryProtocol;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Page;
import dev.tollgate.local.template.Environment;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import io.undertow.util.SameThreadExecutor;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * SQS: ElasticMQ, and what it lacks.
 *
 * <ul>
 *   <li>Attributes that ElasticMQ does not keep are kept in {@link QueueAttributes}. A changed
 *       retention applies at once to messages in the queue; AWS takes up to 15 minutes.
 *   <li>An invalid queue name is refused with the error of SQS.
 *   <li>A name cannot be used for 60 s after its queue was deleted.
 *   <li>Creating a queue again with other attributes is refused, whichever attributes they are.
 *   <li>A policy that denies everybody to send is obeyed even where policies are not evaluated.
 *   <li>The entries of a batch need valid ids, and messages valid characters.
 *   <li>Messages can also be sent as forms that are answered in JSON.
 * </ul>
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html">CreateQueue</a>
 */
final class QueueApi implements HttpHandler {
  private static final Duration NAME_BLOCKED = Duration.ofSeconds(60);
  private static final int MOST_LISTED = 1_000;
  private static final int MAX_NAME_LENGTH = 80;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+(\\.fifo)?");
  private static final Pattern ENTRY_ID = Pattern.compile("[A-Za-z0-9_-]{1,80}");

  /** The characters that SQS accepts; ElasticMQ fails on some others. */
  private static final Pattern TEXT =
      Pattern.compile("[\\t\\n\\r\\x{20}-\\x{D7FF}\\x{E000}-\\x{FFFD}\\x{10000}-\\x{10FFFF}]*");

  /** Errors of ElasticMQ that have another name in the query protocol. */
  private static final Map<String, String> QUERY_CODES =
      Map.of("com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue");

  private static final Pattern INVALID_VALUE =
      Pattern.compile("com\\.amazonaws\\.sqs#Invalid(Attribute|Parameter)Value");

  private final QueueHttp engine;
  private final Environment environment;
  private final QueueAttributes attributes;
  private final Map<String, Instant> deletedAt = new ConcurrentHashMap<>();

  QueueApi(QueueHttp engine, Environment environment, QueueAttributes attributes) {
    this.engine = engine;
    this.environment = environment;
    this.attributes = attributes;
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    Executor workers = exchange.getConnection().getWorker();
    exchange.dispatch(
        SameThreadExecutor.INSTANCE,
        () -> {
          var unused =
              CompletableFuture.completedFuture(call)
                  .thenCompose(received -> answer(exchange, received, workers))
                  .whenCompleteAsync(
                      (answer, failure) -> {
                        if (answer == null) {
                          error(failure).send(exchange);
                        } else {
                          answer.send(exchange);
                        }
                      },
                      workers);
        });
  }

  private static ApiException error(Throwable failure) {
    return failure.getCause() instanceof ApiException refused
        ? refused
        : new ApiException(500, "InternalFailure", String.valueOf(failure));
  }

  private CompletionStage<EngineAnswer> answer(
      HttpServerExchange exchange, Call call, Executor workers) {
    if (!exchange.getRequestHeaders().contains("X-Amz-Target")) {
      return answerForm(exchange, call);
    }
    ObjectNode request = request(call);
    return switch (call.operation()) {
      case "SendMessage", "SendMessageBatch" -> {
        requireSendable(queueName(request), request);
        yield engine.send(call.operation(), call.body()).thenApply(QueueApi::renamed);
      }
      case "CreateQueue" -> manage(this::createQueue, request, workers);
      case "GetQueueAttributes" -> manage(this::getAttributes, request, workers);
      case "SetQueueAttributes" -> manage(this::setAttributes, request, workers);
      case "DeleteQueue" -> manage(this::deleteQueue, request, workers);
      case "ListQueues" -> manage(this::listQueues, request, workers);
      default -> engine.send(call.operation(), call.body()).thenApply(QueueApi::renamed);
    };
  }

  /**
   * The answer with SQS's name of its error. ElasticMQ names a value that is not allowed as in the
   * query protocol, and fails without a name where a queue is deleted during a request.
   */
  private static EngineAnswer renamed(EngineAnswer answer) {
    if (answer.status() >= 500) {
      throw new ApiException(500, "InternalFailure", answer.body());
    }
    if (answer.succeeded() || !INVALID_VALUE.matcher(answer.body()).find()) {
      return answer;
    }
    throw invalid(Json.readObject(answer.body()).path("Message").asText());
  }

  /** Lets a worker wait for ElasticMQ. */
  private static CompletionStage<EngineAnswer> manage(
      Function<ObjectNode, EngineAnswer> operation, ObjectNode request, Executor workers) {
    return CompletableFuture.supplyAsync(() -> operation.apply(request), workers);
  }

  private static ObjectNode request(Call call) {
    if (Json.readOrMissing(call.body()) instanceof ObjectNode request) {
      return request;
    }
    throw ApiException.serialization("The body is not a JSON object: " + call.body());
  }

  private EngineAnswer await(String operation, ObjectNode request) {
    return engine.send(operation, request.toString()).toCompletableFuture().join();
  }

  private CompletionStage<EngineAnswer> answerForm(HttpServerExchange exchange, Call call) {
    if (!QueryProtocol.wantsJson(exchange) || !call.operation().startsWith("SendMessage")) {
      String query = exchange.getQueryString();
      return engine.sendForm(
          call.method(),
          call.path() + (query.isEmpty() ? "" : "?" + query),
          exchange.getRequestHeaders().eachValue(Headers.ACCEPT),
          call.body());
    }
    Map<String, String> form = call.form();
    String queue = Environment.queueName(form.getOrDefault("QueueUrl", call.path()));
    ObjectNode request = QueryMessages.request(call.operation(), form);
    requireSendable(queue, request);
    return engine
        .send(call.operation(), request.put("QueueUrl", url(queue)).toString())
        .thenApply(
            answer -> {
              ObjectNode result = Json.readObject(answer.body());
              if (!answer.succeeded()) {
                String type = result.path("__type").asText();
                throw new ApiException(
                    answer.status(),
                    type,
                    QUERY_CODES.getOrDefault(type, ""),
                    result.path("Message").asText());
              }
              return EngineAnswer.json(
                  "application/json", QueryMessages.answer(call.operation(), result));
            });
  }

  /**
   * Checks what ElasticMQ does not check.
   *
   * @throws ApiException if the messages are refused
   */
  private void requireSendable(String queue, ObjectNode request) {
    if (deniesSending(attributes.policy(queue))) {
      throw new ApiException(
          403,
          "com.amazon.coral.service#AccessDeniedException",
          "AccessDenied",
          "Access to the resource is denied by its policy.");
    }
    // ElasticMQ cannot read some of these characters: for it, the request ends at U+FFFE.
    if (!Stream.of("MessageBody", "StringValue")
        .flatMap(field -> request.findValuesAsText(field).stream())
        .allMatch(TEXT.asMatchPredicate())) {
      throw new ApiException(
          400,
          "com.amazonaws.sqs#InvalidMessageContents",
          "The message contains characters outside the allowed set.");
    }
    for (JsonNode entry : request.path("Entries")) {
      if (!ENTRY_ID.matcher(entry.path("Id").asText()).matches()) {
        throw error(
            "InvalidBatchEntryId",
            "A batch entry id can only contain alphanumeric characters, hyphens and"
                + " underscores. It can be at most 80 letters long.");
      }
    }
  }

  /** Whether a policy denies everybody to send, without a condition. */
  private static boolean deniesSending(String policy) {
    if (policy.isEmpty()) {
      return false;
    }
    for (JsonNode statement : oneOrMore(Json.readObject(policy).path("Statement"))) {
      JsonNode principal = statement.path("Principal");
      if (statement.path("Effect").asText().equals("Deny")
          && !statement.has("Condition")
          && (matches(principal, "\\*") || matches(principal.path("AWS"), "\\*"))
          && matches(statement.path("Action"), "(?i)\\*|sqs:(\\*|SendMessage)")) {
        return true;
      }
    }
    return false;
  }

  private static boolean matches(JsonNode oneOrMore, String pattern) {
    return oneOrMore(oneOrMore).stream().anyMatch(text -> text.asText().matches(pattern));
  }

  private static List<JsonNode> oneOrMore(JsonNode node) {
    List<JsonNode> nodes = new ArrayList<>();
    (node.isArray() ? node : List.of(node)).forEach(nodes::add);
    return nodes;
  }

  private EngineAnswer createQueue(ObjectNode request) {
    String name = request.path("QueueName").asText();
    ObjectNode wanted = requestedAttributes(request);
    if (!NAME.matcher(name).matches() || name.length() > MAX_NAME_LENGTH) {
      throw invalid(
          "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
    }
    QueueAttributes.check(name, wanted);
    Instant deleted = deletedAt.getOrDefault(name, Instant.MIN);
    if (environment.clock().instant().isBefore(deleted.plus(NAME_BLOCKED))) {
      throw error(
          "QueueDeletedRecently",
          "You must wait 60 seconds after deleting a queue before you can create another with the"
              + " same name.");
    }
    EngineAnswer existing = getAllAttributes(name);
    if (existing.succeeded()) {
      requireSame(wanted, Json.readObject(existing.body()).path("Attributes"));
      return EngineAnswer.json(Json.object().put("QueueUrl", url(name)));
    }
    ObjectNode kept = QueueAttributes.removeKept(wanted);
    EngineAnswer answer = await("CreateQueue", request);
    if (answer.succeeded()) {
      attributes.put(name, kept);
    }
    return answer;
  }

  /** The attributes in a request, which are added to it if they are absent. */
  private static ObjectNode requestedAttributes(ObjectNode request) {
    if (request.hasNonNull("Attributes") && !request.path("Attributes").isObject()) {
      throw ApiException.serialization(
          "Attributes is not a JSON object: " + request.path("Attributes"));
    }
    return request.withObject("/Attributes");
  }

  private static void requireSame(ObjectNode wanted, JsonNode actual) {
    List<String> differences =
        wanted.properties().stream()
            .map(Map.Entry::getKey)
            .filter(name -> !comparable(wanted.path(name)).equals(comparable(actual.path(name))))
            .toList();
    if (!differences.isEmpty()) {
      throw new ApiException(
          400,
          "com.amazonaws.sqs#QueueNameExists",
          "QueueAlreadyExists",
          "A queue already exists with the same name and a different value for attribute(s) "
              + String.join(", ", differences));
    }
  }

  /** A value that equals another with the same meaning: policies are JSON. */
  private static JsonNode comparable(JsonNode value) {
    String text = value.asText();
    return text.startsWith("{") ? Json.readObject(text.replaceAll("\"(\\d+)\"", "$1")) : value;
  }

  private EngineAnswer getAttributes(ObjectNode request) {
    Set<String> wanted = new HashSet<>();
    request.path("AttributeNames").forEach(name -> wanted.add(name.asText()));
    EngineAnswer answer = getAllAttributes(queueName(request));
    if (!answer.succeeded() || wanted.contains("All")) {
      return answer;
    }
    ObjectNode body = Json.readObject(answer.body());
    body.withObject("/Attributes").retain(wanted);
    return answer.withBody(body.toString());
  }

  /** The number of messages that can be received; empty if the queue does not exist. */
  Optional<Long> visibleMessages(String queue) {
    EngineAnswer answer = getAllAttributes(queue);
    return answer.succeeded()
        ? Optional.of(
            Json.readObject(answer.body()).at("/Attributes/ApproximateNumberOfMessages").asLong())
        : Optional.empty();
  }

  private EngineAnswer getAllAttributes(String queue) {
    ObjectNode request = Json.object().put("QueueUrl", url(queue));
    request.putArray("AttributeNames").add("All");
    EngineAnswer answer = await("GetQueueAttributes", request);
    if (!answer.succeeded()) {
      return answer;
    }
    ObjectNode body = Json.readObject(answer.body());
    attributes.addTo(body.withObject("/Attributes"), queue);
    return answer.withBody(body.toString());
  }

  private EngineAnswer setAttributes(ObjectNode request) {
    ObjectNode wanted = requestedAttributes(request);
    String name = queueName(request);
    QueueAttributes.check(name, wanted);
    ObjectNode kept = QueueAttributes.removeKept(wanted);
    boolean onlyKept = wanted.isEmpty();
    // ElasticMQ refuses to set nothing, but must still check that the queue exists.
    EngineAnswer answer = await(onlyKept ? "GetQueueAttributes" : "SetQueueAttributes", request);
    if (!answer.succeeded()) {
      return answer;
    }
    attributes.put(name, kept);
    return onlyKept ? EngineAnswer.json(Json.object()) : answer;
  }

  private EngineAnswer deleteQueue(ObjectNode request) {
    EngineAnswer answer = await("DeleteQueue", request);
    if (answer.succeeded()) {
      attributes.remove(queueName(request));
      deletedAt.put(queueName(request), environment.clock().instant());
    }
    return answer;
  }

  /**
   * ElasticMQ lists all queues at once, in no order. Without {@code MaxResults} SQS answers up to a
   * thousand and never a token (SQS API reference, ListQueues).
   */
  private EngineAnswer listQueues(ObjectNode request) {
    int most = request.path("MaxResults").asInt(MOST_LISTED);
    if (most < 1 || most > MOST_LISTED) {
      throw invalid(
          "Value for parameter MaxResults is invalid. Reason: Must be between 1 and 1000.");
    }
    boolean inPages = request.has("MaxResults");
    Optional<String> after = Optional.ofNullable(request.get("NextToken")).map(JsonNode::asText);
    request.remove(List.of("MaxResults", "NextToken"));
    EngineAnswer answer = await("ListQueues", request);
    if (!answer.succeeded()) {
      return answer;
    }
    List<String> urls = new ArrayList<>();
    Json.readObject(answer.body()).path("QueueUrls").forEach(url -> urls.add(url.asText()));
    Page<String> page = Page.of(urls.stream().sorted(), url -> url, after, most);
    ObjectNode result = Json.object();
    page.items().forEach(result.putArray("QueueUrls")::add);
    page.next().filter(next -> inPages).ifPresent(next -> result.put("NextToken", next));
    return EngineAnswer.json(result);
  }

  private static ApiException invalid(String message) {
    return new ApiException(
        400,
        "com.amazon.coral.service#InvalidParameterValueException",
        "InvalidParameterValue",
        message);
  }

  private static ApiException error(String code, String message) {
    return new ApiException(
        400, "com.amazonaws.sqs#" + code, "AWS.SimpleQueueService." + code, message);
  }

  private static String queueName(ObjectNode request) {
    return Environment.queueName(request.path("QueueUrl").asText());
  }

  private String url(String queue) {
    return Environment.queueUrl(environment.arn("sqs", queue));
  }
}
