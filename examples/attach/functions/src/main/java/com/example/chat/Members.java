package com.example.chat;

import java.util.List;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Who is connected to which workspace. */
final class Members {
  /** Region, credentials and endpoint are those of the function. */
  private final DynamoDbClient dynamoDb = DynamoDbClient.create();

  private final String table = System.getenv("MEMBERS_TABLE");

  void add(String connectionId, String workspace, String name) {
    Map<String, AttributeValue> member =
        Map.of(
            "connectionId", AttributeValue.fromS(connectionId),
            "workspace", AttributeValue.fromS(workspace),
            "name", AttributeValue.fromS(name));
    dynamoDb.putItem(request -> request.tableName(table).item(member));
  }

  void remove(String connectionId) {
    dynamoDb.deleteItem(request -> request.tableName(table).key(key(connectionId)));
  }

  Map<String, AttributeValue> find(String connectionId) {
    return dynamoDb.getItem(request -> request.tableName(table).key(key(connectionId))).item();
  }

  /** The connections of a workspace. */
  List<String> of(String workspace) {
    return dynamoDb
        .query(
            request ->
                request
                    .tableName(table)
                    .indexName("byWorkspace")
                    .keyConditionExpression("workspace = :workspace")
                    .expressionAttributeValues(
                        Map.of(":workspace", AttributeValue.fromS(workspace))))
        .items()
        .stream()
        .map(member -> member.get("connectionId").s())
        .toList();
  }

  private static Map<String, AttributeValue> key(String connectionId) {
    return Map.of("connectionId", AttributeValue.fromS(connectionId));
  }
}
