package dev.tollgate.local.engines;

import dev.tollgate.aws.AwsEnvironment;
import dev.tollgate.core.testing.TollgateLimiter;
import dev.tollgate.local.endpoint.AccessKey;
import dev.tollgate.local.endpoint.AccessKeys;
import dev.tollgate.local.endpoint.Authorization;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.endpoint.Endpoint;
import dev.tollgate.local.endpoint.Principal;
import dev.tollgate.local.endpoint.RecordedRequests;
import dev.tollgate.local.endpoint.SecurityTokens;
import dev.tollgate.local.faults.Faults;
import dev.tollgate.local.faults.RequestFaults;
import io.undertow.server.HttpHandler;
import java.net.URI;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsSessionCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;

/**
 * The engines of the local cloud with a Limit table and no queues, for a clock, behind a front door
 * where a plan may strike; and our adapters to them.
 *
 * <p>A long poll is made a short one. It would wait for a second by the wall; and these engines
 * find at once whatever there is to be found, unless the plan says otherwise.
 */
final class Engines implements AutoCloseable {
  private static final String REGION = "us-east-1";
  private static final String ACCOUNT = "000000000000";
  private static final String ROLE = "arn:aws:iam::" + ACCOUNT + ":role/Tenant";
  private static final String TABLE = "Limit";

  private final TableEngine tables;
  private final QueueEngine queues;
  private final Endpoint door;
  private final Map<String, String> environment;
  private final AwsEnvironment adapters;

  private Engines(TableEngine tables, QueueEngine queues, Faults faults, InstantSource clock) {
    this.tables = tables;
    this.queues = queues;
    AccessKeys keys = new AccessKeys();
    this.door =
        Endpoint.open(
            keys,
            Authorization.NONE,
            new RecordedRequests(),
            new RequestFaults(faults)::before,
            clock);
    SecurityTokens tokens = new SecurityTokens(keys, clock);
    tokens.addRole(ROLE);
    door.serve("sts", tokens);
    door.serve("dynamodb", tables.handler());
    door.serve("sqs", impatient(queues.handler()));
    AccessKey key = keys.issue(Principal.of("Limiter", "arn:aws:iam::" + ACCOUNT + ":role/Own"));
    createTable(key, door.endpoint());
    environment = new HashMap<>(key.environment());
    environment.put("AWS_REGION", REGION);
    environment.put("AWS_ENDPOINT_URL", door.endpoint().toString());
    environment.put(
        "QUEUE_URL_PREFIX", "https://sqs." + REGION + ".amazonaws.com/" + ACCOUNT + "/");
    environment.put("TENANT_ROLE_ARN", ROLE);
    environment.put("LIMIT_TABLE", TABLE);
    environment.put("DEPLOYMENT", "Tollgate");
    environment.put(
        "TOKEN_PRODUCER_ARN", "arn:aws:lambda:" + REGION + ":" + ACCOUNT + ":function:none");
    this.adapters = new AwsEnvironment(environment, clock);
  }

  /** Starts engines that hold nothing. */
  static Engines open(Faults faults, InstantSource clock) {
    try {
      faults.pause();
      Engines room =
          new Engines(
              TableEngine.start(Optional.empty()),
              QueueEngine.start(Optional.empty(), clock, REGION, ACCOUNT),
              faults,
              clock);
      faults.resume();
      return room;
    } catch (Exception failure) {
      throw new IllegalStateException("The engines do not start", failure);
    }
  }

  /** Our adapters. */
  TollgateLimiter.Ports ports() {
    return new TollgateLimiter.Ports(
        adapters.buckets(), adapters.tokenQueue(), adapters.bucketQueues());
  }

  /** The environment of a program that claims here. Nobody fills buckets on request. */
  Map<String, String> environment() {
    return Map.copyOf(environment);
  }

  private static HttpHandler impatient(HttpHandler queues) {
    return exchange -> {
      Call call = Call.of(exchange);
      call.withBody(call.body().replace("\"WaitTimeSeconds\":1", "\"WaitTimeSeconds\":0"))
          .attachTo(exchange);
      queues.handleRequest(exchange);
    };
  }

  private static void createTable(AccessKey key, URI endpoint) {
    try (DynamoDbClient client =
        DynamoDbClient.builder()
            .httpClient(UrlConnectionHttpClient.create())
            .region(Region.of(REGION))
            .endpointOverride(endpoint)
            .credentialsProvider(
                StaticCredentialsProvider.create(
                    AwsSessionCredentials.create(
                        key.accessKeyId(), key.secretAccessKey(), key.sessionToken())))
            .build()) {
      client.createTable(
          table ->
              table
                  .tableName(TABLE)
                  .billingMode(BillingMode.PAY_PER_REQUEST)
                  .attributeDefinitions(
                      attribute("tenantId", ScalarAttributeType.S),
                      attribute("key", ScalarAttributeType.S),
                      attribute("shard", ScalarAttributeType.S),
                      attribute("turnAt", ScalarAttributeType.N))
                  .keySchema(key("tenantId", KeyType.HASH), key("key", KeyType.RANGE))
                  .globalSecondaryIndexes(
                      GlobalSecondaryIndex.builder()
                          .indexName("shard")
                          .keySchema(key("shard", KeyType.HASH), key("turnAt", KeyType.RANGE))
                          .projection(p -> p.projectionType(ProjectionType.KEYS_ONLY))
                          .build()));
    }
  }

  private static AttributeDefinition attribute(String name, ScalarAttributeType type) {
    return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
  }

  private static KeySchemaElement key(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  @Override
  public void close() {
    door.close();
    queues.close();
    tables.close();
  }
}
