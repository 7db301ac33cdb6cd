package dev.tollgate.aws.dynamodb;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Pause;
import dev.tollgate.core.Unavailable;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchWriteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.WriteRequest;

/** Writes whole rows with BatchWriteItem. */
public final class BatchWrite {
  /** The most rows of one BatchWriteItem (DynamoDB API reference). */
  public static final int BATCH = 25;

  private static final long FIRST_PAUSE_MILLIS = 25;
  private static final int MAX_DOUBLINGS = 5;

  private BatchWrite() {}

  /**
   * Writes rows. Sends rows that DynamoDB leaves unprocessed again.
   *
   * @param what the rows, for errors
   * @param attempts the most requests for the same rows, of which each is preceded by a pause, the
   *     first one excepted
   * @param request completes a request
   * @throws Unavailable if the SDK fails, or rows stay unprocessed
   */
  public static void write(
      DynamoDbClient dynamoDb,
      String what,
      String table,
      List<Map<String, AttributeValue>> rows,
      int attempts,
      Pause pause,
      Consumer<BatchWriteItemRequest.Builder> request) {
    List<WriteRequest> all =
        rows.stream()
            .map(row -> WriteRequest.builder().putRequest(put -> put.item(row)).build())
            .toList();
    for (int from = 0; from < all.size(); from += BATCH) {
      List<WriteRequest> left = all.subList(from, Math.min(all.size(), from + BATCH));
      for (int i = 0; i < attempts && !left.isEmpty(); i++) {
        if (i > 0) {
          pause.of(Duration.ofMillis(FIRST_PAUSE_MILLIS << Math.min(i, MAX_DOUBLINGS)));
        }
        Map<String, List<WriteRequest>> items = Map.of(table, left);
        left =
            ask(
                "DynamoDB BatchWriteItem of " + what,
                () ->
                    dynamoDb
                        .batchWriteItem(with -> request.accept(with.requestItems(items)))
                        .unprocessedItems()
                        .getOrDefault(table, List.of()));
      }
      if (!left.isEmpty()) {
        throw new Unavailable(what + ": rows stayed unprocessed");
      }
    }
  }
}
