package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Unavailable;
import java.util.Map;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;

/** Sends events to a function, with the role of the sender. */
final class LambdaEvents {
  private LambdaEvents() {}

  /**
   * Invokes a function asynchronously.
   *
   * @param event names and texts without characters that JSON escapes
   * @throws Unavailable if the event may not have been accepted
   */
  static void send(
      LambdaClient lambda, String functionArn, String what, Map<String, String> event) {
    String payload =
        event.entrySet().stream()
            .map(member -> "\"%s\":\"%s\"".formatted(member.getKey(), member.getValue()))
            .collect(Collectors.joining(",", "{", "}"));
    ask(
        what,
        () ->
            lambda.invoke(
                request ->
                    request
                        .functionName(functionArn)
                        .invocationType(InvocationType.EVENT)
                        .payload(SdkBytes.fromUtf8String(payload))));
  }
}
