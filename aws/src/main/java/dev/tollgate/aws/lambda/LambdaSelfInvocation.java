package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.fanout.SelfInvocation;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;

/**
 * Invokes the own function asynchronously, with its own role.
 *
 * @param functionArn the ARN by which the function itself was invoked
 */
public record LambdaSelfInvocation<W extends SelfInvocation.Work>(
    LambdaClient lambda, String functionArn) implements SelfInvocation<W> {
  @Override
  public void send(W work) {
    String payload =
        work.toEvent().entrySet().stream()
            .map(member -> "\"%s\":\"%s\"".formatted(member.getKey(), member.getValue()))
            .collect(Collectors.joining(",", "{", "}"));
    ask(
        "Lambda Invoke of the own function",
        () ->
            lambda.invoke(
                request ->
                    request
                        .functionName(functionArn)
                        .invocationType(InvocationType.EVENT)
                        .payload(SdkBytes.fromUtf8String(payload))));
  }
}
