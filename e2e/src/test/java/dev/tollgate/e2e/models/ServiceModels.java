package dev.tollgate.e2e.models;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.e2e.models.ServiceModel.Operation;
import dev.tollgate.local.endpoint.Exchange;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Validates exchanges with AWS APIs against the models of their services. */
final class ServiceModels {
  /** The models' files, by the prefix of {@code X-Amz-Target} or the service of the signature. */
  private static final Map<String, String> FILES =
      Map.ofEntries(
          Map.entry("AWSEvents", "events-2015-10-07"),
          Map.entry("AmazonSQS", "sqs-2012-11-05"),
          Map.entry("DynamoDB_20120810", "dynamodb-2012-08-10"),
          Map.entry("DynamoDBStreams_20120810", "streams.dynamodb-2012-08-10"),
          Map.entry("execute-api", "apigatewaymanagementapi-2018-11-29"),
          Map.entry("lambda", "lambda-2015-03-31"),
          Map.entry("monitoring", "monitoring-2010-08-01"),
          Map.entry("scheduler", "scheduler-2021-06-30"),
          Map.entry("sqs", "sqs-2012-11-05"),
          Map.entry("sts", "sts-2011-06-15"),
          Map.entry("xray", "xray-2016-04-12"));

  /**
   * Errors of every operation, which models do not repeat.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/APIReference/CommonErrors.html">Common
   *     errors of SQS</a>
   * @see <a
   *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html">Error
   *     handling with DynamoDB</a>
   */
  private static final Set<String> COMMON_ERRORS =
      Set.of(
          "AccessDenied",
          "AccessDeniedException",
          "ExpiredToken",
          "ExpiredTokenException",
          "InternalFailure",
          "InternalServerError",
          "InvalidClientTokenId",
          "InvalidParameterValueException",
          "MissingAuthenticationToken",
          "MissingParameter",
          "SerializationException",
          "ServiceUnavailable",
          "Throttling",
          "ThrottlingException",
          "UnrecognizedClientException",
          "ValidationError",
          "ValidationException");

  private static final JsonMapper JSON =
      JsonMapper.builder().enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS).build();
  private static final Pattern UNIVERSAL_TARGET =
      Pattern.compile("arn:aws[a-z-]*:scheduler:::aws-sdk:([a-z0-9]+):([a-z]\\w*)");

  private final Map<String, ServiceModel> models = new ConcurrentHashMap<>();

  /**
   * The result of a validation.
   *
   * @param service the service's name, such as {@code DynamoDB}
   * @param operation the operation that the request is for; empty if the service has none like it
   * @param request what the model does not allow in the request
   * @param answer what the model does not allow in the answer; absent without an answer
   */
  record Result(
      String service,
      String operation,
      List<Violation> request,
      Optional<List<Violation>> answer) {}

  /** Validates a call and its answer. */
  Result validate(Exchange exchange) {
    String target = exchange.headers().getOrDefault("X-Amz-Target", "");
    String service = exchange.call().service();
    String key = target.isEmpty() ? service : target.substring(0, Math.max(0, target.indexOf('.')));
    if (!FILES.containsKey(key)) {
      return new Result(
          service,
          "",
          List.of(new Violation("service", key, "one of " + FILES.keySet())),
          Optional.empty());
    }
    ServiceModel model = model(key);
    Protocol protocol = protocol(model, target);
    Optional<Operation> operation = protocol.operation(exchange);
    if (operation.isEmpty()) {
      String call = exchange.call().method() + " " + exchange.target() + " " + target;
      return new Result(
          model.property("serviceId"),
          "",
          List.of(new Violation("operation", call, "an operation of the model")),
          Optional.empty());
    }
    return new Result(
        model.property("serviceId"),
        operation.get().name(),
        request(model, protocol, exchange, operation.get()),
        exchange.answer().map(unused -> answer(model, protocol, exchange, operation.get())));
  }

  private ServiceModel model(String key) {
    return models.computeIfAbsent(FILES.getOrDefault(key, key), ServiceModel::read);
  }

  private static Protocol protocol(ServiceModel model, String target) {
    if (!target.isEmpty()) {
      return new AwsJson(model);
    }
    if (model.property("serviceId").equals("CloudWatch")) {
      return new RpcCbor(model);
    }
    return model.property("protocol").equals("rest-json")
        ? new RestJson(model)
        : new AwsQuery(model);
  }

  private List<Violation> request(
      ServiceModel model, Protocol protocol, Exchange exchange, Operation operation) {
    List<Violation> violations = new ArrayList<>();
    ObjectNode request = protocol.request(exchange, operation, violations);
    operation
        .input()
        .ifPresent(shape -> violations.addAll(model.shapes().violations(shape, request)));
    if (exchange.call().service().equals("scheduler")) {
      violations.addAll(universalTarget(request.path("Target")));
    }
    return violations;
  }

  /**
   * What a schedule's universal target calls: an operation in lower camel case, with its request as
   * {@code Input}.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html">Using
   *     universal targets</a>
   */
  private List<Violation> universalTarget(JsonNode target) {
    Matcher action = UNIVERSAL_TARGET.matcher(target.path("Arn").asText());
    if (!action.matches()) {
      return List.of();
    }
    String name =
        action.group(2).substring(0, 1).toUpperCase(Locale.ROOT) + action.group(2).substring(1);
    Optional<String> shape =
        Optional.of(action.group(1))
            .filter(FILES::containsKey)
            .flatMap(service -> model(service).operation(name))
            .flatMap(Operation::input);
    if (shape.isEmpty()) {
      return List.of(new Violation("Target.Arn", action.group(), "an operation of a model"));
    }
    String input = target.path("Input").asText();
    try {
      return model(action.group(1)).shapes().violations(shape.get(), JSON.readTree(input)).stream()
          .map(one -> new Violation("Target.Input." + one.at(), one.value(), one.expected()))
          .toList();
    } catch (JsonProcessingException e) {
      return List.of(new Violation("Target.Input", input, "JSON"));
    }
  }

  private static List<Violation> answer(
      ServiceModel model, Protocol protocol, Exchange exchange, Operation operation) {
    List<Violation> violations = new ArrayList<>();
    if (exchange.status() >= 300) {
      String name = protocol.error(exchange);
      JsonNode error = model.shapes().shape(name).path("error").path("httpStatusCode");
      if (!operation.hasError(name) && !COMMON_ERRORS.contains(name)) {
        violations.add(
            new Violation(
                "error " + name, "" + exchange.status(), "an error of " + operation.name()));
      }
      if (!error.isMissingNode() && error.asInt() != exchange.status()) {
        violations.add(new Violation("status of " + name, "" + exchange.status(), error.asText()));
      }
      return violations;
    }
    ObjectNode answer = protocol.answer(exchange, operation, violations);
    operation
        .output()
        .ifPresent(shape -> violations.addAll(model.shapes().violations(shape, answer)));
    return violations;
  }

  /** Reads a body that must be a JSON object. */
  static ObjectNode object(String at, String body, List<Violation> violations) {
    try {
      if (JSON.readTree(body) instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException e) {
      // Reported below.
    }
    violations.add(new Violation(at, body, "a JSON object"));
    return JSON.createObjectNode();
  }

  /** How a service's messages hold members. */
  interface Protocol {
    /** The operation that a request is for. */
    Optional<Operation> operation(Exchange exchange);

    /** The members of a request. Adds what else of the request is wrong. */
    ObjectNode request(Exchange exchange, Operation operation, List<Violation> violations);

    /** The members of an answer without an error. Adds what else of the answer is wrong. */
    ObjectNode answer(Exchange exchange, Operation operation, List<Violation> violations);

    /** The name of an answer's error. */
    String error(Exchange exchange);
  }
}
