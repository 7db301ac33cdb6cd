package dev.tollgate.aws.lambda;

import dev.tollgate.core.fanout.Chunk;
import dev.tollgate.core.fanout.ChunkRequests;
import software.amazon.awssdk.services.lambda.LambdaClient;

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
    LambdaEvents.send(lambda, functionArn, "Lambda Invoke for a chunk of tenants", chunk.toEvent());
  }
}
