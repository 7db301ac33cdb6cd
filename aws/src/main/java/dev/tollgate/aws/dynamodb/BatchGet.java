package dev.tollgate.aws.dynamodb;

import static dev.tollgate.aws.SdkCalls.ask;

import dev.tollgate.core.Unavailable;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.BatchGetItemResponse;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;

/** Consistent reads of rows by their keys, with BatchGetItem. */
public final class BatchGet {
  /** The most rows that one BatchGetItem reads (DynamoDB API reference). */
  private static final int BATCH = 100;

  private BatchGet() {}

  private record Key(String table, Map<String, AttributeValue> attributes) {}

  /**
   * Reads rows. Requests keys that DynamoDB leaves unprocessed again.
   *
   * @param rows the rows, for errors
   * @param keys the keys by the name of the table
   * @param attempts the most requests for keys of which one request can read all
   * @param request completes a request
   * @return the rows that exist, by the name of the table
   * @throws Unavailable if the SDK fails, or keys stay unprocessed
   */
  public static Map<String, List<Row>> read(
      DynamoDbClient dynamoDb,
      String rows,
      Map<String, List<Map<String, AttributeValue>>> keys,
      int attempts,
      Consumer<BatchGetItemRequest.Builder> request) {
    String what = "DynamoDB BatchGetItem of " + rows;
    Map<String, List<Row>> found = new HashMap<>();
    List<Key> left = new ArrayList<>();
    keys.forEach((table, all) -> all.forEach(key -> left.add(new Key(table, key))));
    int requests = attempts + (left.size() - 1) / BATCH;
    for (int i = 0; i < requests && !left.isEmpty(); i++) {
      List<Key> next = left.subList(0, Math.min(BATCH, left.size()));
      Map<String, KeysAndAttributes> wanted =
          next.stream()
              .collect(
                  Collectors.groupingBy(
                      Key::table,
                      Collectors.collectingAndThen(
                          Collectors.mapping(Key::attributes, Collectors.toList()),
                          BatchGet::consistent)));
      BatchGetItemResponse response =
          ask(what, () -> dynamoDb.batchGetItem(with -> request.accept(with.requestItems(wanted))));
      response
          .responses()
          .forEach(
              (table, items) ->
                  items.forEach(
                      item ->
                          found
                              .computeIfAbsent(table, name -> new ArrayList<>())
                              .add(new Row(item))));
      next.clear();
      response
          .unprocessedKeys()
          .forEach((table, more) -> more.keys().forEach(key -> left.add(0, new Key(table, key))));
    }
    if (!left.isEmpty()) {
      throw new Unavailable(what + ": keys stayed unprocessed");
    }
    return found;
  }

  private static KeysAndAttributes consistent(List<Map<String, AttributeValue>> keys) {
    return KeysAndAttributes.builder().keys(keys).consistentRead(true).build();
  }
}
