package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/** Targets that remember what reached them and answer as they are told. */
final class RecordingTargets implements Targets {
  record Call(
      String arn,
      String payload,
      Optional<String> messageGroupId,
      Map<String, String> attributes) {}

  final List<Call> calls = Collections.synchronizedList(new ArrayList<>());
  volatile Function<Call, Outcome> behaviour = call -> new Delivered();
  volatile Optional<String> refusal = Optional.empty();

  @Override
  public Optional<String> refusal(Rights rights) {
    return refusal.map(why -> why + " " + rights.roleArn() + " for " + rights.groupArn());
  }

  /** A message to a queue is recorded under the queue's ARN, another call under its operation. */
  @Override
  public Outcome call(Rights rights, String service, String operation, ObjectNode request) {
    if (operation.equals("Invoke")) {
      return called(
          new Call(
              request.path("FunctionName").asText(),
              request.path("Payload").asText(),
              Optional.empty(),
              Map.of()));
    }
    if (!operation.equals("SendMessage")) {
      String name = service + "." + operation;
      return called(new Call(name, request.toString(), Optional.empty(), Map.of()));
    }
    Map<String, String> attributes = new HashMap<>();
    request
        .path("MessageAttributes")
        .properties()
        .forEach(
            entry -> attributes.put(entry.getKey(), entry.getValue().path("StringValue").asText()));
    String[] url = request.path("QueueUrl").asText().split("/", -1);
    return called(
        new Call(
            "arn:aws:sqs:us-east-1:" + url[3] + ":" + url[4],
            request.path("MessageBody").asText(),
            Optional.ofNullable(request.get("MessageGroupId")).map(JsonNode::asText),
            attributes));
  }

  List<String> payloads() {
    return calls.stream().map(Call::payload).toList();
  }

  /** The payloads of the calls to one target. */
  List<String> payloads(String arn) {
    return calls.stream().filter(call -> call.arn().equals(arn)).map(Call::payload).toList();
  }

  private Outcome called(Call call) {
    calls.add(call);
    return behaviour.apply(call);
  }
}
