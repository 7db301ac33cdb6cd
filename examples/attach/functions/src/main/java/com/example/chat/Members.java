package com.example.chat;

import java.net.URI;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Who is connected to which workspace. */
final class Members {
  private final DynamoDbClient dynamoDb;
  private final String table;

  Members(Map<String, String> environment) {
    dynamoDb =
        client(DynamoDbClient.builder().httpClient(UrlConnectionHttpClient.create()), environment)
            .build();
    table = environment.get("MEMBERS_TABLE");
  }

  /** A client of AWS, or of a local endpoint if the variables name one. */
  static <B extends AwsClientBuilder<B, C>, C> B client(B builder, Map<String, String> environment) {
    String endpoint = environment.get("AWS_ENDPOINT_URL");
    AwsCredentialsProvider credentials = DefaultCredentialsProvider.builder().build();
    if (endpoint != null) {
      builder.endpointOverride(URI.create(endpoint));
      credentials =
          StaticCredentialsProvider.create(
              AwsSessionCredentials.create(
                  environment.get("AWS_ACCESS_KEY_ID"),
                  environment.get("AWS_SECRET_ACCESS_KEY"),
                  environment.get("AWS_SESSION_TOKEN")));
    }
    return builder.credentialsProvider(credentials).region(Region.of(environment.get("AWS_REGION")));
  }

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
