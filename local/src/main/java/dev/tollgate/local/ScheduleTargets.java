package dev.tollgate.local;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.lambda.Functions;
import dev.tollgate.local.lambda.Invocation;
import dev.tollgate.local.scheduler.Targets;
import dev.tollgate.local.services.ServiceClient;
import dev.tollgate.local.services.ServiceClient.Answer;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;

/** What schedules call: this cloud's functions, queues and APIs. */
final class ScheduleTargets implements Targets {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** What the operations of a service are called by in its protocol. */
  private static final Map<String, String> NAME_SPACES = Map.of("sqs", "AmazonSQS");

  private final Functions functions;
  private final ServiceClient client;

  ScheduleTargets(Functions functions, ServiceClient client) {
    this.functions = functions;
    this.client = client;
  }

  /** Returns when the function has ended, so that a settled scheduler means settled functions. */
  @Override
  public Outcome invokeFunction(String functionArn, String payload) {
    Invocation invocation = functions.invoke(functionArn, payload.getBytes(StandardCharsets.UTF_8));
    if (invocation instanceof Invocation.NotFound) {
      return new Failed("Lambda.ResourceNotFoundException", functionArn, false);
    }
    if (invocation instanceof Invocation.Throttled throttled) {
      return new Failed("Lambda.TooManyRequestsException", throttled.reason(), true);
    }
    return new Delivered();
  }

  @Override
  public Outcome sendMessage(
      String queueArn,
      String body,
      Optional<String> messageGroupId,
      Map<String, String> attributes) {
    String[] arn = queueArn.split(":", -1);
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    request.put("QueueUrl", "https://sqs.%s.amazonaws.com/%s/%s".formatted(arn[3], arn[4], arn[5]));
    request.put("MessageBody", body);
    messageGroupId.ifPresent(group -> request.put("MessageGroupId", group));
    ObjectNode messageAttributes = request.putObject("MessageAttributes");
    attributes.forEach(
        (name, value) ->
            messageAttributes.putObject(name).put("DataType", "String").put("StringValue", value));
    return call("sqs", "SendMessage", request);
  }

  @Override
  public Outcome callApi(String service, String operation, String request) {
    try {
      return call(service, operation, JSON.readTree(request));
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException("request: " + request + " (expected: JSON)", e);
    }
  }

  private Outcome call(String service, String operation, JsonNode request) {
    String nameSpace = NAME_SPACES.get(service);
    if (nameSpace == null) {
      throw new IllegalArgumentException(
          "service: " + service + " (expected: one of " + NAME_SPACES.keySet() + ")");
    }
    Answer answer = client.call(service, nameSpace + "." + operation, request);
    return answer.succeeded()
        ? new Delivered()
        : new Failed(
            answer.errorCode(),
            answer.body().toString(),
            answer.status() >= 500 || answer.errorCode().contains("Throttl"));
  }
}
