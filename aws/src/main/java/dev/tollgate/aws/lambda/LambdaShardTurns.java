package dev.tollgate.aws.lambda;

import dev.tollgate.core.bucket.fill.ShardTurn;
import dev.tollgate.core.bucket.fill.ShardTurns;
import java.util.Map;
import java.util.TreeMap;
import software.amazon.awssdk.services.lambda.LambdaClient;

/** Continues turns of shards by invoking the token producer asynchronously, with its own role. */
public final class LambdaShardTurns implements ShardTurns {
  private final LambdaClient lambda;
  private final String producerArn;

  /**
   * Turns of the token producer.
   *
   * @param producerArn the ARN by which the token producer itself was invoked
   */
  public LambdaShardTurns(LambdaClient lambda, String producerArn) {
    this.lambda = lambda;
    this.producerArn = producerArn;
  }

  @Override
  public void send(ShardTurn turn) {
    Map<String, String> event = new TreeMap<>();
    event.put("shard", turn.shard().toString());
    event.put("scheduledTime", turn.minute().toString());
    event.put("part", Integer.toString(turn.part()));
    turn.after().ifPresent(cursor -> event.put("after", cursor));
    LambdaEvents.send(lambda, producerArn, "Lambda Invoke for the rest of " + turn.shard(), event);
  }
}
