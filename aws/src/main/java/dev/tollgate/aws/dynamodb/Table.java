package dev.tollgate.aws.dynamodb;

import static dev.tollgate.aws.SdkCalls.ask;
import static dev.tollgate.aws.SdkCalls.write;

import dev.tollgate.core.Unavailable;
import dev.tollgate.core.WriteResult;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.GetItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;
import software.amazon.awssdk.services.dynamodb.model.QueryRequest;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/**
 * A table, with its usual requests. Each names its rows for errors, and throws {@link Unavailable}
 * if the SDK fails.
 */
public record Table(DynamoDbClient dynamoDb, String name) {
  /** Reads a row consistently; empty if it does not exist. */
  public Optional<Row> get(String row, Consumer<GetItemRequest.Builder> request) {
    return Optional.of(
            ask(
                "DynamoDB GetItem of " + row,
                () ->
                    dynamoDb
                        .getItem(with -> request.accept(with.tableName(name).consistentRead(true)))
                        .item()))
        .filter(item -> !item.isEmpty())
        .map(Row::new);
  }

  /** Reads all rows of a query consistently, in as many requests as needed. */
  public List<Row> query(String rows, Consumer<QueryRequest.Builder> request) {
    List<Row> all = new ArrayList<>();
    forEach(rows, true, request, all::add);
    return List.copyOf(all);
  }

  /**
   * Reads all rows of a query page by page.
   *
   * @param consistently whether all earlier writes must be read
   * @param row gets each row; what it does not keep needs no memory
   */
  public void forEach(
      String rows,
      boolean consistently,
      Consumer<QueryRequest.Builder> request,
      Consumer<Row> row) {
    ask(
        "DynamoDB Query of " + rows,
        () -> {
          dynamoDb
              .queryPaginator(
                  with -> request.accept(with.tableName(name).consistentRead(consistently)))
              .items()
              .forEach(item -> row.accept(new Row(item)));
          return true;
        });
  }

  /** Writes a whole row, on a condition if the request has one. */
  public WriteResult put(String row, Consumer<PutItemRequest.Builder> request) {
    return write(
        "DynamoDB PutItem of " + row,
        () -> dynamoDb.putItem(with -> request.accept(with.tableName(name))));
  }

  /** Changes attributes of a row, on a condition if the request has one. */
  public WriteResult update(String row, Consumer<UpdateItemRequest.Builder> request) {
    return write(
        "DynamoDB UpdateItem of " + row,
        () -> dynamoDb.updateItem(with -> request.accept(with.tableName(name))));
  }

  /** Deletes a row, on a condition if the request has one. */
  public WriteResult delete(String row, Consumer<DeleteItemRequest.Builder> request) {
    return write(
        "DynamoDB DeleteItem of " + row,
        () -> dynamoDb.deleteItem(with -> request.accept(with.tableName(name))));
  }
}
