package dev.tollgate.aws.dynamodb;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Unavailable;
import java.util.ArrayList;
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

  private BatchWrite() {}

  /**
   * Writes rows. Sends rows that DynamoDB leaves unprocessed again.
   *
   * @param what the rows, for errors
   * @param attempts the most requests for rows of which one request can write all
   * @param request completes a request
   * @throws Unavailable if the SDK fails, or rows stay unprocessed
   */
  public static void write(
      DynamoDbClient dynamoDb,
      String what,
      String table,
      List<Map<String, AttributeValue>> rows,
      int attempts,
      Consumer<BatchWriteItemRequest.Builder> request) {
    List<WriteRequest> left = new ArrayList<>();
    rows.forEach(row -> left.add(WriteRequest.builder().putRequest(put -> put.item(row)).build()));
    int requests = attempts + (left.size() - 1) / BATCH;
    for (int i = 0; i < requests && !left.isEmpty(); i++) {
      List<WriteRequest> next = left.subList(0, Math.min(BATCH, left.size()));
      Map<String, List<WriteRequest>> items = Map.of(table, List.copyOf(next));
      next.clear();
      left.addAll(
          ask(
              "DynamoDB BatchWriteItem of " + what,
              () ->
                  dynamoDb
                      .batchWriteItem(with -> request.accept(with.requestItems(items)))
                      .unprocessedItems()
                      .getOrDefault(table, List.of())));
    }
    if (!left.isEmpty()) {
      throw new Unavailable(what + ": rows stayed unprocessed");
    }
  }
}
