package dev.tollgate.local.services;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.undertow.server.HttpHandler;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * SQS: ElasticMQ, and what it lacks.
 *
 * <ul>
 *   <li>Queue URLs have AWS's form.
 *   <li>Attributes that the engine does not keep are kept here.
 *   <li>Messages expire when they are older than the retention of their queue ({@link
 *       ClockedQueue}). A changed one holds at once for the messages that are there; AWS takes up
 *       to 15 minutes.
 *   <li>{@code SentTimestamp} is by the cloud's clock.
 *   <li>A name cannot be used for 60 s after its queue was deleted.
 *   <li>Creating a queue again with other attributes is refused, whichever attributes they are.
 *   <li>A policy that denies everybody to send is obeyed, also where nobody looks at policies.
 *   <li>The entries of a batch need ids of the right form, and messages the right characters.
 *   <li>Messages are also sent by the query protocol with an answer in JSON.
 * </ul>
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/API_CreateQueue.html">CreateQueue</a>
 */
final class QueueApi implements HttpHandler {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_-]+(\\.fifo)?");
  private static final int MAX_NAME_LENGTH = 80;
  private static final Duration NAME_BLOCKED = Duration.ofSeconds(60);
  static final String POLICY = "Policy";
  private static final String RETENTION = "MessageRetentionPeriod";
  private static final int MOST_LISTED = 1_000;
  private static final Duration STANDARD_RETENTION = Duration.ofDays(4);

  private static final Pattern ENTRY_ID = Pattern.compile("[A-Za-z0-9_-]{1,80}");

  /** Errors of the engine that have another name in the query protocol. */
  private static final Map<String, String> QUERY_CODES =
      Map.of("com.amazonaws.sqs#QueueDoesNotExist", "AWS.SimpleQueueService.NonExistentQueue");

  /**
   * The attributes that the engine refuses or forgets: what they are if not set, and what they may
   * be.
   */
  private static final Map<String, Attribute> KEPT_HERE =
      Map.of(
          "DeduplicationScope",
          new Attribute("queue", true, value -> value.matches("queue|messageGroup")),
          "FifoThroughputLimit",
          new Attribute("perQueue", true, value -> value.matches("perQueue|perMessageGroupId")),
          RETENTION,
          new Attribute(
              Long.toString(STANDARD_RETENTION.toSeconds()),
              false,
              value -> isWhole(value, 60, Duration.ofDays(14).toSeconds())),
          POLICY,
          new Attribute("", false, value -> value.isEmpty() || isObject(value)),
          "SqsManagedSseEnabled",
          new Attribute("true", false, value -> value.matches("true|false")));

  private final Forwarder engine;
  private final String engineUrlPrefix;
  private final String urlPrefix;
  private final InstantSource clock;
  private final KeptAttributes keptAttributes;
  private final Map<String, Instant> deletedAt = new ConcurrentHashMap<>();

  /**
   * An attribute.
   *
   * @param standard what it is if not set; empty if there is none then
   * @param fifo whether only FIFO queues have it
   */
  private record Attribute(String standard, boolean fifo, Predicate<String> valid) {
    boolean mayBeOf(String queue) {
      return !fifo || queue.endsWith(".fifo");
    }
  }

  QueueApi(
      Forwarder engine,
      String engineUrlPrefix,
      String urlPrefix,
      KeptAttributes keptAttributes,
      InstantSource clock) {
    this.engine = engine;
    this.engineUrlPrefix = engineUrlPrefix;
    this.urlPrefix = urlPrefix;
    this.keptAttributes = keptAttributes;
    this.clock = clock;
  }

  /** How long a queue keeps messages. */
  static Duration retention(KeptAttributes attributes, String queue) {
    String seconds = attributes.of(queue).get(RETENTION);
    return seconds == null ? STANDARD_RETENTION : Duration.ofSeconds(Long.parseLong(seconds));
  }

  @Override
  public void handleRequest(HttpServerExchange exchange) throws Exception {
    Call call = Call.of(exchange);
    if (QueryProtocol.speaks(exchange)) {
      handleQuery(exchange, call);
      return;
    }
    switch (call.operation()) {
      case "SendMessage", "SendMessageBatch" -> send(exchange, call);
      case "CreateQueue" -> createQueue(exchange, parse(call));
      case "GetQueueAttributes" -> getAttributes(exchange, parse(call));
      case "SetQueueAttributes" -> setAttributes(exchange, parse(call));
      case "DeleteQueue" -> deleteQueue(exchange, call);
      case "GetQueueUrl" -> engine.forward(exchange, call.body(), this::withUrls);
      case "ListQueues" -> listQueues(exchange, parse(call));
      default -> engine.forward(exchange);
    }
  }

  private void handleQuery(HttpServerExchange exchange, Call call) throws Exception {
    boolean batch = call.operation().equals("SendMessageBatch");
    if (!QueryProtocol.wantsJson(exchange) || !(batch || call.operation().equals("SendMessage"))) {
      engine.forward(exchange);
      return;
    }
    Map<String, String> form = Form.parse(call.body());
    String queue = QueryProtocol.queue(exchange, form);
    ObjectNode request = batch ? QueryProtocol.batch(form) : QueryProtocol.message(form);
    Optional<Refusal> refusal = refusal(queue, request);
    if (refusal.isPresent()) {
      answer(
          exchange,
          refusal.get().status(),
          QueryProtocol.error(refusal.get().queryCode(), refusal.get().message()));
      return;
    }
    HttpResponse<String> response =
        engine.ask(
            exchange,
            "AmazonSQS." + call.operation(),
            request.put("QueueUrl", urlPrefix + queue).toString());
    ObjectNode result = parse(response.body());
    String type = result.path("__type").asText();
    answer(
        exchange,
        response.statusCode(),
        response.statusCode() == 200
            ? QueryProtocol.answer(call.operation(), result)
            : QueryProtocol.error(
                QUERY_CODES.getOrDefault(type, type.substring(type.indexOf('#') + 1)),
                result.path("Message").asText()));
  }

  private void send(HttpServerExchange exchange, Call call) {
    ObjectNode request = parse(call);
    refusal(queueName(request), request)
        .ifPresentOrElse(
            refusal ->
                new ServiceError(refusal.status(), refusal.type(), refusal.message())
                    .sendJson(exchange, refusal.queryCode()),
            () -> engine.forward(exchange));
  }

  /** Why messages are not taken. */
  private record Refusal(int status, String type, String queryCode, String message) {}

  private Optional<Refusal> refusal(String queue, ObjectNode request) {
    if (deniesSending(keptAttributes.of(queue).getOrDefault(POLICY, ""))) {
      return Optional.of(
          new Refusal(
              403,
              "com.amazon.coral.service#AccessDeniedException",
              "AccessDenied",
              "Access to the resource is denied by its policy."));
    }
    if (!request.findValuesAsText("MessageBody").stream().allMatch(QueueApi::isText)) {
      return Optional.of(
          new Refusal(
              400,
              "com.amazonaws.sqs#InvalidMessageContents",
              "InvalidMessageContents",
              "The message contains characters outside the allowed set."));
    }
    for (JsonNode entry : request.path("Entries")) {
      if (!ENTRY_ID.matcher(entry.path("Id").asText()).matches()) {
        return Optional.of(
            new Refusal(
                400,
                "com.amazonaws.sqs#InvalidBatchEntryId",
                "AWS.SimpleQueueService.InvalidBatchEntryId",
                "A batch entry id can only contain alphanumeric characters, hyphens and"
                    + " underscores. It can be at most 80 letters long."));
      }
    }
    return Optional.empty();
  }

  /** Whether a message has only characters that SQS takes; the engine stumbles on some others. */
  private static boolean isText(String body) {
    return body.codePoints()
        .allMatch(
            c ->
                c == '\t'
                    || c == '\n'
                    || c == '\r'
                    || (c >= 0x20 && c <= 0xD7FF)
                    || (c >= 0xE000 && c <= 0xFFFD)
                    || c > 0xFFFF);
  }

  /** Whether a policy denies everybody to send, whatever the circumstances. */
  private static boolean deniesSending(String policy) {
    if (policy.isEmpty()) {
      return false;
    }
    for (JsonNode statement : oneOrMore(parse(policy).path("Statement"))) {
      JsonNode principal = statement.path("Principal");
      boolean everybody =
          principal.asText().equals("*")
              || oneOrMore(principal.path("AWS")).stream().anyMatch(p -> p.asText().equals("*"));
      boolean sending =
          oneOrMore(statement.path("Action")).stream()
              .anyMatch(action -> action.asText().matches("(?i)\\*|sqs:(\\*|SendMessage)"));
      if (everybody
          && sending
          && statement.path("Effect").asText().equals("Deny")
          && !statement.has("Condition")) {
        return true;
      }
    }
    return false;
  }

  private static List<JsonNode> oneOrMore(JsonNode node) {
    List<JsonNode> nodes = new ArrayList<>();
    if (node.isArray()) {
      node.forEach(nodes::add);
    } else if (!node.isMissingNode()) {
      nodes.add(node);
    }
    return nodes;
  }

  private void createQueue(HttpServerExchange exchange, ObjectNode request) throws Exception {
    String name = request.path("QueueName").asText();
    ObjectNode attributes = object(request, "Attributes");
    if (!NAME.matcher(name).matches() || name.length() > MAX_NAME_LENGTH) {
      refuse(
          exchange,
          "com.amazon.coral.service#InvalidParameterValueException",
          "InvalidParameterValue",
          "Can only include alphanumeric characters, hyphens, or underscores. 1 to 80 in length");
      return;
    }
    if (refuseInvalid(exchange, name, attributes)) {
      return;
    }
    Instant deleted = deletedAt.get(name);
    if (deleted != null && clock.instant().isBefore(deleted.plus(NAME_BLOCKED))) {
      refuse(
          exchange,
          "com.amazonaws.sqs#QueueDeletedRecently",
          "AWS.SimpleQueueService.QueueDeletedRecently",
          "You must wait 60 seconds after deleting a queue before you can create another with the same name.");
      return;
    }
    Optional<ObjectNode> existing = attributesOf(exchange, name);
    if (existing.isPresent()) {
      List<String> different = differences(attributes, existing.get());
      if (!different.isEmpty()) {
        refuse(
            exchange,
            "com.amazonaws.sqs#QueueNameExists",
            "QueueAlreadyExists",
            "A queue already exists with the same name and a different value for attribute(s) "
                + String.join(", ", different));
      } else {
        send(exchange, JSON.createObjectNode().put("QueueUrl", urlPrefix + name));
      }
      return;
    }
    Map<String, String> kept = takeKept(attributes);
    engine.forward(
        exchange,
        request.toString(),
        answer -> {
          keptAttributes.put(name, kept);
          return withUrls(answer);
        });
  }

  private void getAttributes(HttpServerExchange exchange, ObjectNode request) {
    Set<String> asked = new HashSet<>();
    request.path("AttributeNames").forEach(name -> asked.add(name.asText()));
    boolean all = asked.contains("All");
    ArrayNode forwarded = request.putArray("AttributeNames");
    asked.stream().filter(name -> !KEPT_HERE.containsKey(name)).forEach(forwarded::add);
    String name = queueName(request);
    boolean noneForwarded = forwarded.isEmpty();
    if (noneForwarded) {
      // The engine must still be asked whether there is such a queue.
      forwarded.add("QueueArn");
    }
    engine.forward(
        exchange,
        request.toString(),
        answer -> {
          ObjectNode response = parse(answer);
          ObjectNode attributes =
              noneForwarded ? response.putObject("Attributes") : object(response, "Attributes");
          addKept(name, attribute -> all || asked.contains(attribute), attributes);
          return response.toString();
        });
  }

  private void setAttributes(HttpServerExchange exchange, ObjectNode request) throws Exception {
    ObjectNode attributes = object(request, "Attributes");
    String name = queueName(request);
    if (refuseInvalid(exchange, name, attributes)) {
      return;
    }
    Map<String, String> kept = takeKept(attributes);
    if (attributes.isEmpty() && attributesOf(exchange, name).isPresent()) {
      keptAttributes.put(name, kept);
      send(exchange, JSON.createObjectNode());
      return;
    }
    engine.forward(
        exchange,
        request.toString(),
        answer -> {
          keptAttributes.put(name, kept);
          return answer;
        });
  }

  private void deleteQueue(HttpServerExchange exchange, Call call) {
    String name = queueName(parse(call));
    engine.forward(
        exchange,
        call.body(),
        answer -> {
          keptAttributes.remove(name);
          deletedAt.put(name, clock.instant());
          return answer;
        });
  }

  /** Adds those attributes to a queue's that are kept here. */
  private void addKept(String queue, Predicate<String> wanted, ObjectNode attributes) {
    Map<String, String> kept = keptAttributes.of(queue);
    KEPT_HERE.forEach(
        (name, attribute) -> {
          String value = kept.getOrDefault(name, attribute.standard());
          if (wanted.test(name) && attribute.mayBeOf(queue) && !value.isEmpty()) {
            attributes.put(name, value);
          }
        });
  }

  /** All attributes of a queue, if there is such a queue. */
  private Optional<ObjectNode> attributesOf(HttpServerExchange exchange, String name)
      throws IOException, InterruptedException {
    ObjectNode question = JSON.createObjectNode().put("QueueUrl", urlPrefix + name);
    question.putArray("AttributeNames").add("All");
    HttpResponse<String> response =
        engine.ask(exchange, "AmazonSQS.GetQueueAttributes", question.toString());
    if (response.statusCode() != 200) {
      return Optional.empty();
    }
    ObjectNode attributes = object(parse(response.body()), "Attributes");
    addKept(name, attribute -> true, attributes);
    return Optional.of(attributes);
  }

  private static List<String> differences(ObjectNode wanted, ObjectNode actual) {
    return wanted.properties().stream()
        .filter(
            entry -> !comparable(entry.getValue()).equals(comparable(actual.path(entry.getKey()))))
        .map(Map.Entry::getKey)
        .toList();
  }

  /** An attribute's value such that two values that mean the same are equal: policies are JSON. */
  private static JsonNode comparable(JsonNode value) {
    String text = value.asText();
    return text.startsWith("{") ? parse(text.replaceAll("\"(\\d+)\"", "$1")) : value;
  }

  private static boolean refuseInvalid(
      HttpServerExchange exchange, String queue, ObjectNode attributes) {
    for (Map.Entry<String, JsonNode> attribute : attributes.properties()) {
      Attribute kept = KEPT_HERE.get(attribute.getKey());
      if (kept != null && !kept.mayBeOf(queue)) {
        refuse(
            exchange,
            "com.amazonaws.sqs#InvalidAttributeName",
            "InvalidAttributeName",
            "Unknown Attribute " + attribute.getKey() + ".");
        return true;
      }
      if (kept != null && !kept.valid().test(attribute.getValue().asText())) {
        refuse(
            exchange,
            "com.amazonaws.sqs#InvalidAttributeValue",
            "InvalidAttributeValue",
            "Invalid value for the parameter " + attribute.getKey() + ".");
        return true;
      }
    }
    return false;
  }

  private static Map<String, String> takeKept(ObjectNode attributes) {
    Map<String, String> kept = new ConcurrentHashMap<>();
    KEPT_HERE
        .keySet()
        .forEach(
            name -> {
              JsonNode value = attributes.remove(name);
              if (value != null) {
                kept.put(name, value.asText());
              }
            });
    return kept;
  }

  /**
   * The engine lists all queues at once, in no order. Without {@code MaxResults} SQS answers up to
   * a thousand and never a token (SQS API reference, ListQueues).
   */
  private void listQueues(HttpServerExchange exchange, ObjectNode request) throws Exception {
    int most = request.path("MaxResults").asInt(MOST_LISTED);
    if (most < 1 || most > MOST_LISTED) {
      answer(
          exchange,
          400,
          JSON.createObjectNode()
              .put("__type", "com.amazonaws.sqs#InvalidParameterValue")
              .put(
                  "message",
                  "Value for parameter MaxResults is invalid. Reason: Must be between 1 and 1000."));
      return;
    }
    String after = request.path("NextToken").asText("");
    boolean inParts = request.has("MaxResults");
    request.remove(List.of("MaxResults", "NextToken"));
    HttpResponse<String> response =
        engine.ask(exchange, "AmazonSQS.ListQueues", request.toString());
    if (response.statusCode() != 200) {
      answer(exchange, response.statusCode(), parse(response.body()));
      return;
    }
    List<String> rest = new ArrayList<>();
    parse(withUrls(response.body())).path("QueueUrls").forEach(url -> rest.add(url.asText()));
    rest.removeIf(url -> url.compareTo(after) <= 0);
    Collections.sort(rest);
    ObjectNode part = JSON.createObjectNode();
    ArrayNode urls = part.putArray("QueueUrls");
    rest.stream().limit(most).forEach(urls::add);
    if (inParts && rest.size() > most) {
      part.put("NextToken", rest.get(most - 1));
    }
    send(exchange, part);
  }

  private String withUrls(String answer) {
    return answer.replace(engineUrlPrefix, urlPrefix);
  }

  private static String queueName(ObjectNode request) {
    String url = request.path("QueueUrl").asText();
    return url.substring(url.lastIndexOf('/') + 1);
  }

  private static ObjectNode object(ObjectNode parent, String name) {
    if (!(parent.get(name) instanceof ObjectNode)) {
      parent.set(name, JsonNodeFactory.instance.objectNode());
    }
    return (ObjectNode) parent.get(name);
  }

  private static ObjectNode parse(Call call) {
    return parse(call.body());
  }

  private static ObjectNode parse(String body) {
    try {
      return (ObjectNode) JSON.readTree(body);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void answer(HttpServerExchange exchange, int status, ObjectNode answer) {
    exchange.setStatusCode(status);
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/json");
    exchange.getResponseSender().send(answer.toString());
  }

  private static void send(HttpServerExchange exchange, ObjectNode answer) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.0");
    exchange.getResponseSender().send(answer.toString());
  }

  private static void refuse(
      HttpServerExchange exchange, String type, String queryCode, String message) {
    new ServiceError(400, type, message).sendJson(exchange, queryCode);
  }

  private static boolean isObject(String value) {
    try {
      return JSON.readTree(value) instanceof ObjectNode;
    } catch (JsonProcessingException e) {
      return false;
    }
  }

  private static boolean isWhole(String value, long min, long max) {
    return value.matches("\\d{1,9}")
        && Long.parseLong(value) >= min
        && Long.parseLong(value) <= max;
  }
}
