package dev.tollgate.league.stores;

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import com.amazonaws.services.dynamodbv2.model.AttributeDefinition;
import com.amazonaws.services.dynamodbv2.model.BillingMode;
import com.amazonaws.services.dynamodbv2.model.CreateTableRequest;
import com.amazonaws.services.dynamodbv2.model.KeySchemaElement;
import com.amazonaws.services.dynamodbv2.model.KeyType;
import com.amazonaws.services.dynamodbv2.model.ScalarAttributeType;

/** DynamoDB Local in this process, over HTTP, with a table for limiters. */
record DynamoDbStore(DynamoDBProxyServer server, AmazonDynamoDB client) implements AutoCloseable {
  /** The table; its key is the string {@code key}, as bucket4j expects. */
  static final String TABLE = "Buckets";

  static DynamoDbStore start() {
    try {
      String port = Integer.toString(RedisStore.freePort());
      DynamoDBProxyServer server =
          ServerRunner.createServerFromCommandLineArgs(
              new String[] {"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port});
      server.start();
      AmazonDynamoDB client =
          AmazonDynamoDBClientBuilder.standard()
              .withEndpointConfiguration(
                  new EndpointConfiguration("http://127.0.0.1:" + port, "us-east-1"))
              .withCredentials(
                  new AWSStaticCredentialsProvider(new BasicAWSCredentials("test", "secret")))
              .build();
      client.createTable(
          new CreateTableRequest()
              .withTableName(TABLE)
              .withBillingMode(BillingMode.PAY_PER_REQUEST)
              .withKeySchema(new KeySchemaElement("key", KeyType.HASH))
              .withAttributeDefinitions(new AttributeDefinition("key", ScalarAttributeType.S)));
      return new DynamoDbStore(server, client);
    } catch (Exception failure) {
      throw new IllegalStateException("DynamoDB Local did not start", failure);
    }
  }

  @Override
  public void close() {
    client.shutdown();
    try {
      server.stop();
    } catch (Exception failure) {
      throw new IllegalStateException(failure);
    }
  }
}
