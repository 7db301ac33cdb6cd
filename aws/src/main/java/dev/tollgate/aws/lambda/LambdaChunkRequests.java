package dev.tollgate.aws.lambda;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.ChunkRequests;
import java.util.stream.Collectors;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.InvocationType;

/** Requests chunks by invoking a function asynchronously, with the function's own role. */
public final class LambdaChunkRequests implements ChunkRequests {
  private final LambdaClient lambda;
  private final String functionArn;

  /**
   * Requests to a function.
   *
   * @param functionArn the ARN by which the function itself was invoked
   */
  public LambdaChunkRequests(LambdaClient lambda, String functionArn) {
    this.lambda = lambda;
    this.functionArn = functionArn;
  }

  @Override
  public void send(Chunk chunk) {
    // Tasks and tenants' ids contain no character that JSON escapes.
    String payload =
        chunk.toEvent().entrySet().stream()
            .map(member -> "\"%s\":\"%s\"".formatted(member.getKey(), member.getValue()))
            .collect(Collectors.joining(",", "{", "}"));
    ask(
        "Lambda Invoke for a chunk of tenants",
        () ->
            lambda.invoke(
                request ->
                    request
                        .functionName(functionArn)
                        .invocationType(InvocationType.EVENT)
                        .payload(SdkBytes.fromUtf8String(payload))));
  }
}
