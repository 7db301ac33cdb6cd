package dev.tollgate.bench.contenders;

import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.auth.BasicSessionCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import java.net.URI;
import java.util.Map;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ResourceInUseException;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * A table for limiters on DynamoDB: the key is the string {@code key}.
 *
 * @param environment the variables of a program that claims tokens: endpoint, region, credentials
 */
public record PeerTable(Map<String, String> environment) {
  /** The table's name. */
  public static final String NAME = "Peers";

  /** The name of the key. */
  static final String KEY = "key";

  /** Copies the variables. */
  public PeerTable {
    environment = Map.copyOf(environment);
  }

  /** Creates the table, unless it exists. */
  public PeerTable create() {
    try (DynamoDbClient client = client()) {
      client.createTable(
          table ->
              table
                  .tableName(NAME)
                  .billingMode(BillingMode.PAY_PER_REQUEST)
                  .keySchema(
                      KeySchemaElement.builder().attributeName(KEY).keyType(KeyType.HASH).build())
                  .attributeDefinitions(
                      AttributeDefinition.builder()
                          .attributeName(KEY)
                          .attributeType(ScalarAttributeType.S)
                          .build()));
      var unused = client.waiter().waitUntilTableExists(table -> table.tableName(NAME));
    } catch (ResourceInUseException e) {
      // It exists.
    }
    return this;
  }

  /** A client like the one that Tollgate's client has by default. */
  DynamoDbClient client() {
    return DynamoDbClient.builder()
        .endpointOverride(endpoint())
        .region(Region.of(variable("AWS_REGION")))
        .credentialsProvider(credentials())
        .httpClient(UrlConnectionHttpClient.create())
        .build();
  }

  /** A client of STS, for the sample's handshake. */
  StsClient roles() {
    return StsClient.builder()
        .endpointOverride(endpoint())
        .region(Region.of(variable("AWS_REGION")))
        .credentialsProvider(credentials())
        .httpClient(UrlConnectionHttpClient.create())
        .build();
  }

  /** A client of the first SDK, which bucket4j uses. */
  AmazonDynamoDB firstClient() {
    String id = variable("AWS_ACCESS_KEY_ID");
    String secret = variable("AWS_SECRET_ACCESS_KEY");
    String token = environment.getOrDefault("AWS_SESSION_TOKEN", "");
    return AmazonDynamoDBClientBuilder.standard()
        .withEndpointConfiguration(
            new EndpointConfiguration(endpoint().toString(), variable("AWS_REGION")))
        .withCredentials(
            new AWSStaticCredentialsProvider(
                token.isEmpty()
                    ? new BasicAWSCredentials(id, secret)
                    : new BasicSessionCredentials(id, secret, token)))
        .build();
  }

  private AwsCredentialsProvider credentials() {
    String id = variable("AWS_ACCESS_KEY_ID");
    String secret = variable("AWS_SECRET_ACCESS_KEY");
    String token = environment.getOrDefault("AWS_SESSION_TOKEN", "");
    return StaticCredentialsProvider.create(
        token.isEmpty()
            ? AwsBasicCredentials.create(id, secret)
            : AwsSessionCredentials.create(id, secret, token));
  }

  private URI endpoint() {
    return URI.create(variable("AWS_ENDPOINT_URL"));
  }

  String variable(String name) {
    String value = environment.get(name);
    if (value == null) {
      throw new IllegalStateException("Not set: " + name + " (expected: in claims.env)");
    }
    return value;
  }
}
