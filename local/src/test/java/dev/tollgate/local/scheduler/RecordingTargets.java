package dev.tollgate.local.scheduler;

import java.util.ArrayList;
import java.util.Collections;
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

  @Override
  public Outcome invokeFunction(Rights rights, String functionArn, String payload) {
    return called(new Call(functionArn, payload, Optional.empty(), Map.of()));
  }

  @Override
  public Outcome sendMessage(
      Rights rights,
      String queueArn,
      String body,
      Optional<String> messageGroupId,
      Map<String, String> attributes) {
    return called(new Call(queueArn, body, messageGroupId, attributes));
  }

  @Override
  public Outcome callApi(Rights rights, String service, String operation, String request) {
    return called(new Call(service + "." + operation, request, Optional.empty(), Map.of()));
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
