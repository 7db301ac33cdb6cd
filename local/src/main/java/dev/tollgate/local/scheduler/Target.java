package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.template.Environment;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The target of a schedule, its input and its retry policy. A target is a function, a queue, or an
 * API action (universal target). See <a
 * href="https://docs.aws.amazon.com/scheduler/latest/UserGuide/managing-targets-universal.html">Using
 * universal targets</a>.
 *
 * @param input the payload, message body or API request, before context attributes are replaced
 * @param maximumRetryAttempts how often a failed call is repeated
 * @param maximumEventAge the maximum age of an event whose call is repeated
 */
record Target(
    String arn,
    String roleArn,
    Optional<String> input,
    Optional<String> messageGroupId,
    Optional<String> deadLetterArn,
    int maximumRetryAttempts,
    Duration maximumEventAge) {
  private static final int DEFAULT_RETRY_ATTEMPTS = 185;
  private static final int DEFAULT_EVENT_AGE_SECONDS = 86_400;
  private static final Pattern ROLE =
      Pattern.compile("arn:aws(-[a-z]+)?:iam::\\d{12}:role\\/[\\w+=,.@\\/-]+");
  private static final Pattern DEAD_LETTER =
      Pattern.compile("arn:aws(-[a-z]+)?:sqs:[a-z0-9\\-]+:\\d{12}:[a-zA-Z0-9\\-_]+");
  private static final Pattern FUNCTION =
      Pattern.compile(
          "arn:aws(-[a-z]+)?:lambda:[a-z0-9-]+:\\d{12}:function:[\\w-]{1,64}(:[\\w$-]{1,128})?");
  private static final Pattern QUEUE =
      Pattern.compile(
          "arn:aws(?:-[a-z]+)?:sqs:([a-z0-9-]+):(\\d{12}):([\\w-]{1,80}|[\\w-]{1,75}\\.fifo)");
  private static final Pattern UNIVERSAL =
      Pattern.compile("arn:aws(?:-[a-z]+)?:scheduler:::aws-sdk:([a-z0-9]+):([a-z][a-zA-Z0-9]*)");

  /** The supported universal targets, and the required members of their requests. */
  private static final Map<String, List<String>> ACTIONS =
      Map.of(
          "cloudformation:deleteStack", List.of("StackName"),
          "sqs:sendMessage", List.of("QueueUrl", "MessageBody"),
          "sqs:sendMessageBatch", List.of("QueueUrl", "Entries"));

  static Target parse(Members members) {
    Members retry = members.structure("RetryPolicy");
    return new Target(
        members.requiredText("Arn", 1, 1600, Optional.empty()),
        members.requiredText("RoleArn", 1, 1600, Optional.of(ROLE)),
        members.text("Input", 1, Integer.MAX_VALUE),
        members.structure("SqsParameters").text("MessageGroupId", 1, 128),
        members.structure("DeadLetterConfig").text("Arn", 1, 1600, Optional.of(DEAD_LETTER)),
        retry.integer("MaximumRetryAttempts", 0, 185).orElse(DEFAULT_RETRY_ATTEMPTS),
        Duration.ofSeconds(
            retry
                .integer("MaximumEventAgeInSeconds", 60, DEFAULT_EVENT_AGE_SECONDS)
                .orElse(DEFAULT_EVENT_AGE_SECONDS)));
  }

  /**
   * Refuses targets that satisfy the model's constraints but are not supported by the service or
   * locally.
   */
  void check(Members members) {
    for (String service : List.of("Ecs", "EventBridge", "Kinesis", "SageMakerPipeline")) {
      String other = service + "Parameters";
      if (members.has(other)) {
        throw ApiException.validation(other + " is not run locally.");
      }
    }
    if (messageGroupId.isPresent() && (isUniversal() || isFunction())) {
      throw ApiException.validation("SqsParameters does not apply to target " + arn + ".");
    }
    Matcher universal = UNIVERSAL.matcher(arn);
    if (universal.matches()) {
      checkUniversal(universal.group(1), universal.group(2));
    } else if (isFunction()) {
      input.ifPresent(Target::requireJson);
    } else if (!QUEUE.matcher(arn).matches()) {
      throw ApiException.validation(
          "Target "
              + arn
              + " is not run locally (expected: the ARN of a function, a queue or a universal target).");
    } else if (arn.endsWith(".fifo") && messageGroupId.isEmpty()) {
      throw ApiException.validation(
          "SqsParameters.MessageGroupId is required for FIFO queue " + arn + ".");
    }
  }

  ObjectNode toJson() {
    ObjectNode json = Json.object().put("Arn", arn).put("RoleArn", roleArn);
    input.ifPresent(value -> json.put("Input", value));
    messageGroupId.ifPresent(value -> json.putObject("SqsParameters").put("MessageGroupId", value));
    deadLetterArn.ifPresent(value -> json.putObject("DeadLetterConfig").put("Arn", value));
    json.putObject("RetryPolicy")
        .put("MaximumEventAgeInSeconds", maximumEventAge.toSeconds())
        .put("MaximumRetryAttempts", maximumRetryAttempts);
    return json;
  }

  Targets.Outcome call(Targets targets, Targets.Rights rights, String payload) {
    Matcher action = UNIVERSAL.matcher(actionArn());
    if (!action.matches()) {
      throw new IllegalStateException(arn);
    }
    String operation = action.group(2);
    return targets.call(
        rights,
        action.group(1),
        operation.substring(0, 1).toUpperCase(Locale.ROOT) + operation.substring(1),
        (ObjectNode) requireJson(request(payload)));
  }

  /**
   * Sends a dead letter, whose body is the API request that failed.
   *
   * @param attributes message attributes of type String
   */
  Targets.Outcome sendDeadLetter(
      Targets targets,
      Targets.Rights rights,
      String queueArn,
      String payload,
      Map<String, String> attributes) {
    ObjectNode letter = Json.object();
    letter.put("MessageBody", request(payload)).put("QueueUrl", Environment.queueUrl(queueArn));
    ObjectNode messageAttributes = letter.putObject("MessageAttributes");
    attributes.forEach(
        (name, value) ->
            messageAttributes.putObject(name).put("DataType", "String").put("StringValue", value));
    return targets.call(rights, "sqs", "SendMessage", letter);
  }

  /** The API action, in the form of a universal target. */
  String actionArn() {
    if (isUniversal()) {
      return arn;
    }
    return "arn:aws:scheduler:::aws-sdk:" + (isFunction() ? "lambda:invoke" : "sqs:sendMessage");
  }

  /** The API request with a payload. */
  private String request(String payload) {
    if (isUniversal()) {
      return payload;
    }
    ObjectNode request = Json.object();
    if (isFunction()) {
      request.put("FunctionName", arn).put("InvocationType", "Event").put("Payload", payload);
    } else {
      request.put("MessageBody", payload).put("QueueUrl", Environment.queueUrl(arn));
      messageGroupId.ifPresent(group -> request.put("MessageGroupId", group));
    }
    return request.toString();
  }

  private boolean isFunction() {
    return FUNCTION.matcher(arn).matches();
  }

  private boolean isUniversal() {
    return UNIVERSAL.matcher(arn).matches();
  }

  private void checkUniversal(String service, String action) {
    List<String> required = ACTIONS.get(service + ":" + action);
    if (required == null) {
      throw ApiException.validation(
          "Universal target "
              + arn
              + " is not run locally (expected: arn:aws:scheduler:::aws-sdk: and one of "
              + ACTIONS.keySet().stream().sorted().toList()
              + ").");
    }
    if (input.isEmpty()) {
      throw ApiException.validation(
          "Input is required for universal target "
              + arn
              + ": the request of the API action as JSON.");
    }
    if (!required.stream().allMatch(requireJson(input.get())::hasNonNull)) {
      throw ApiException.validation(
          "Invalid JSON provided for Target Input: "
              + input.get()
              + " (expected: an object with "
              + String.join(" and ", required)
              + ").");
    }
  }

  private static JsonNode requireJson(String input) {
    try {
      return Json.readStrictly(input);
    } catch (JsonProcessingException e) {
      throw ApiException.validation("Invalid JSON provided for Target Input: " + input);
    }
  }
}
