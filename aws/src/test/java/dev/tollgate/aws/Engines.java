package dev.tollgate.aws;

import com.amazonaws.services.dynamodbv2.local.main.ServerRunner;
import com.amazonaws.services.dynamodbv2.local.server.DynamoDBProxyServer;
import com.typesafe.config.ConfigFactory;
import dev.tollgate.aws.config.SdkClients;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.sqs.QueueUrls;
import java.io.IOException;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import org.elasticmq.StrictSQSLimits$;
import org.elasticmq.actor.QueueManagerActor;
import org.elasticmq.rest.sqs.SQSRestServerBuilder$;
import org.elasticmq.util.NowProvider;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;
import scala.Option;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.awscore.client.builder.AwsSyncClientBuilder;
import software.amazon.awssdk.core.SdkRequest;
import software.amazon.awssdk.core.SdkResponse;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.GlobalSecondaryIndex;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.Projection;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.CreateQueueRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.GetQueueAttributesResponse;
import software.amazon.awssdk.services.sqs.model.ListQueuesRequest;
import software.amazon.awssdk.services.sqs.model.ListQueuesResponse;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.ReceiveMessageRequest;
import software.amazon.awssdk.services.sqs.model.SendMessageRequest;
import software.amazon.awssdk.services.sqs.model.SetQueueAttributesRequest;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** DynamoDB Local and ElasticMQ, each started on its first use and stopped after the last test. */
public final class Engines implements ParameterResolver {
  /** Credentials for any tenant; the engines do not check credentials. */
  public static final TenantCredentials ANYBODY =
      tenant -> StaticCredentialsProvider.create(AwsBasicCredentials.create("tenant", "secret"));

  private static <B extends AwsClientBuilder<B, C> & AwsSyncClientBuilder<B, C>, C> B at(
      URI endpoint, B builder) {
    return builder
        .endpointOverride(endpoint)
        .region(Region.US_EAST_1)
        .credentialsProvider(
            StaticCredentialsProvider.create(AwsBasicCredentials.create("test", "secret")))
        .httpClient(SdkClients.newHttpClient());
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Tables.class || type == Queues.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return context
        .getRoot()
        .getStore(Namespace.GLOBAL)
        .computeIfAbsent(type, t -> t == Tables.class ? new Tables() : new Queues());
  }

  /** DynamoDB Local, with tables like the stack's. */
  public static final class Tables implements AutoCloseable {
    private final DynamoDBProxyServer server;
    private final URI endpoint;
    private final DynamoDbClient client;

    Tables() {
      try {
        String port = Integer.toString(freePort());
        server =
            ServerRunner.createServerFromCommandLineArgs(
                new String[] {"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port});
        server.start();
        endpoint = URI.create("http://127.0.0.1:" + port);
        client = at(endpoint, DynamoDbClient.builder()).build();
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }

    private static int freePort() throws IOException {
      try (ServerSocket socket = new ServerSocket(0)) {
        return socket.getLocalPort();
      }
    }

    public DynamoDbClient client() {
      return client;
    }

    /** A separate client with this interceptor. */
    public DynamoDbClient client(ExecutionInterceptor interceptor) {
      return at(endpoint, DynamoDbClient.builder())
          .overrideConfiguration(c -> c.addExecutionInterceptor(interceptor))
          .build();
    }

    /** A new Tenant table. */
    public String tenant() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(
                  attribute("tenantId"),
                  attribute("tier"),
                  attribute("pending"),
                  attribute("scheduled"),
                  AttributeDefinition.builder()
                      .attributeName("dueAt")
                      .attributeType(ScalarAttributeType.N)
                      .build())
              .keySchema(key("tenantId", KeyType.HASH))
              .globalSecondaryIndexes(
                  index("byTier", "tier", ProjectionType.ALL),
                  index("pending", "pending", ProjectionType.KEYS_ONLY),
                  GlobalSecondaryIndex.builder()
                      .indexName("scheduled")
                      .keySchema(key("scheduled", KeyType.HASH), key("dueAt", KeyType.RANGE))
                      .projection(
                          Projection.builder().projectionType(ProjectionType.KEYS_ONLY).build())
                      .build()));
    }

    /** A new Tier table. */
    public String tier() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(attribute("tier"))
              .keySchema(key("tier", KeyType.HASH)));
    }

    /** A new Idempotency table. */
    public String idempotency() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(attribute("key"))
              .keySchema(key("key", KeyType.HASH)));
    }

    /** A new History table. */
    public String history() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(attribute("key"), attribute("at"))
              .keySchema(key("key", KeyType.HASH), key("at", KeyType.RANGE)));
    }

    /** A new Audit table. */
    public String audit() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(attribute("subject"), attribute("at"), attribute("day"))
              .keySchema(key("subject", KeyType.HASH), key("at", KeyType.RANGE))
              .globalSecondaryIndexes(
                  GlobalSecondaryIndex.builder()
                      .indexName("byDay")
                      .keySchema(key("day", KeyType.HASH), key("at", KeyType.RANGE))
                      .projection(Projection.builder().projectionType(ProjectionType.ALL).build())
                      .build()));
    }

    /** A new Session table. */
    public String session() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(attribute("tenantId"), attribute("sessionId"))
              .keySchema(key("tenantId", KeyType.HASH), key("sessionId", KeyType.RANGE)));
    }

    /** A new Limit table. */
    public String limit() {
      return create(
          CreateTableRequest.builder()
              .attributeDefinitions(
                  attribute("tenantId"),
                  attribute("key"),
                  attribute("live"),
                  attribute("shard"),
                  AttributeDefinition.builder()
                      .attributeName("turnAt")
                      .attributeType(ScalarAttributeType.N)
                      .build())
              .keySchema(key("tenantId", KeyType.HASH), key("key", KeyType.RANGE))
              .globalSecondaryIndexes(
                  index("live", "live", ProjectionType.KEYS_ONLY),
                  index("shard", "shard", "turnAt", ProjectionType.KEYS_ONLY)));
    }

    private String create(CreateTableRequest.Builder table) {
      String name = "T" + UUID.randomUUID();
      client.createTable(table.tableName(name).billingMode(BillingMode.PAY_PER_REQUEST).build());
      return name;
    }

    private static AttributeDefinition attribute(String name) {
      return AttributeDefinition.builder()
          .attributeName(name)
          .attributeType(ScalarAttributeType.S)
          .build();
    }

    private static KeySchemaElement key(String name, KeyType type) {
      return KeySchemaElement.builder().attributeName(name).keyType(type).build();
    }

    private static GlobalSecondaryIndex index(
        String name, String partitionKey, ProjectionType projection) {
      return index(name, partitionKey, "tenantId", projection);
    }

    private static GlobalSecondaryIndex index(
        String name, String partitionKey, String sortKey, ProjectionType projection) {
      return GlobalSecondaryIndex.builder()
          .indexName(name)
          .keySchema(key(partitionKey, KeyType.HASH), key(sortKey, KeyType.RANGE))
          .projection(projected -> projected.projectionType(projection))
          .build();
    }

    @Override
    public void close() {
      try {
        server.stop();
      } catch (Exception failure) {
        throw new IllegalStateException(failure);
      }
    }
  }

  /**
   * ElasticMQ, with a clock that tests move ahead of the system's. The engine uses this clock to
   * decide when a message is visible, but the system's clock for the time when it was sent. A test
   * therefore sends first and then moves the clock.
   */
  public static final class Queues implements AutoCloseable, InstantSource {
    private final AtomicLong aheadMillis = new AtomicLong();
    private final MissingFeatures lacking = new MissingFeatures();
    private final ActorSystem actors;
    private final URI endpoint;

    Queues() {
      ClassLoader loader = Engines.class.getClassLoader();
      actors =
          ActorSystem.create(
              "elasticmq",
              ConfigFactory.parseMap(
                      Map.of(
                          "pekko.daemonic", "on",
                          "pekko.loglevel", "OFF",
                          "pekko.stdout-loglevel", "OFF"))
                  .withFallback(ConfigFactory.load(loader)),
              loader);
      ActorRef manager =
          actors.actorOf(
              Props.create(
                  QueueManagerActor.class,
                  () ->
                      new QueueManagerActor(
                          new Now(this), StrictSQSLimits$.MODULE$, Option.empty())));
      int port =
          SQSRestServerBuilder$.MODULE$
              .withActorSystem(actors)
              .withQueueManagerActor(manager)
              .withInterface("127.0.0.1")
              .withDynamicPort()
              .start()
              .waitUntilStarted()
              .localAddress()
              .getPort();
      endpoint = URI.create("http://127.0.0.1:" + port);
    }

    public SqsClient client() {
      return at(endpoint, SqsClient.builder())
          .overrideConfiguration(c -> c.addExecutionInterceptor(lacking))
          .build();
    }

    public QueueUrls urls() {
      return new QueueUrls(endpoint + "/000000000000/", new ResourceNames("test_"));
    }

    public void reset() {
      aheadMillis.set(0);
    }

    public void advance(Duration by) {
      aheadMillis.addAndGet(by.toMillis());
    }

    @Override
    public Instant instant() {
      return InstantSource.system().instant().plusMillis(aheadMillis.get());
    }

    @Override
    public void close() {
      actors.terminate();
    }

    private static final class Now extends NowProvider {
      private final InstantSource clock;

      private Now(InstantSource clock) {
        this.clock = clock;
      }

      @Override
      public long nowMillis() {
        return clock.millis();
      }
    }
  }

  /**
   * Adds the features of SQS that ElasticMQ lacks. It drops the encryption attributes; it stores a
   * queue's policy, which must deny sending to everybody, and refuses to send to a queue that has
   * one; it stores the retention period of a queue; and it splits a listing into pages. It turns
   * the product's polls of one second, with which SQS asks all of its servers, into short polls:
   * this engine finds every visible message at once, so they would only wait in real time.
   */
  private static final class MissingFeatures implements ExecutionInterceptor {
    private static final int PRODUCT_POLL_SECONDS = 1;

    private final Map<String, String> policies = new ConcurrentHashMap<>();
    private final Map<String, String> retentions = new ConcurrentHashMap<>();

    @Override
    public SdkRequest modifyRequest(Context.ModifyRequest context, ExecutionAttributes ignored) {
      if (context.request() instanceof CreateQueueRequest request) {
        keep(request.queueName(), request.attributes());
        return request.toBuilder().attributes(known(request.attributes())).build();
      }
      if (context.request() instanceof SetQueueAttributesRequest request) {
        Optional.ofNullable(request.attributes().get(QueueAttributeName.POLICY))
            .ifPresent(policy -> policies.put(request.queueUrl(), policy));
        keep(name(request.queueUrl()), request.attributes());
        return request.toBuilder().attributes(known(request.attributes())).build();
      }
      if (context.request() instanceof GetQueueAttributesRequest request) {
        Set<QueueAttributeName> names = EnumSet.copyOf(request.attributeNames());
        if (names.removeAll(
            Set.of(QueueAttributeName.POLICY, QueueAttributeName.MESSAGE_RETENTION_PERIOD))) {
          names.add(QueueAttributeName.QUEUE_ARN);
        }
        return request.toBuilder().attributeNames(names).build();
      }
      if (context.request() instanceof SendMessageRequest request
          && !policies.getOrDefault(request.queueUrl(), "").isEmpty()) {
        throw SqsException.builder().statusCode(403).message("AccessDenied").build();
      }
      if (context.request() instanceof ReceiveMessageRequest request
          && Objects.equals(request.waitTimeSeconds(), PRODUCT_POLL_SECONDS)) {
        return request.toBuilder().waitTimeSeconds(0).build();
      }
      return context.request();
    }

    private void keep(String queue, Map<QueueAttributeName, String> attributes) {
      Optional.ofNullable(attributes.get(QueueAttributeName.MESSAGE_RETENTION_PERIOD))
          .ifPresent(seconds -> retentions.put(queue, seconds));
    }

    private static String name(String url) {
      return url.substring(url.lastIndexOf('/') + 1);
    }

    private static Map<QueueAttributeName, String> known(Map<QueueAttributeName, String> all) {
      Map<QueueAttributeName, String> known = new HashMap<>(all);
      known.remove(QueueAttributeName.SQS_MANAGED_SSE_ENABLED);
      known.remove(QueueAttributeName.POLICY);
      known.remove(QueueAttributeName.MESSAGE_RETENTION_PERIOD);
      known.putIfAbsent(QueueAttributeName.DELAY_SECONDS, "0");
      return known;
    }

    @Override
    public SdkResponse modifyResponse(Context.ModifyResponse context, ExecutionAttributes ignored) {
      if (context.request() instanceof ListQueuesRequest request
          && context.response() instanceof ListQueuesResponse response) {
        return part(request, response);
      }
      if (!(context.request() instanceof GetQueueAttributesRequest request
          && context.response() instanceof GetQueueAttributesResponse response)) {
        return context.response();
      }
      Map<QueueAttributeName, String> attributes = new HashMap<>(response.attributes());
      Optional.ofNullable(policies.get(request.queueUrl()))
          .filter(policy -> !policy.isEmpty())
          .ifPresent(policy -> attributes.put(QueueAttributeName.POLICY, policy));
      Optional.ofNullable(retentions.get(name(request.queueUrl())))
          // The request asked for the ARN instead of this attribute, so a caller that did not ask
          // for the attribute must not get it.
          .filter(seconds -> attributes.containsKey(QueueAttributeName.QUEUE_ARN))
          .ifPresent(
              seconds -> attributes.put(QueueAttributeName.MESSAGE_RETENTION_PERIOD, seconds));
      return response.toBuilder().attributes(attributes).build();
    }

    private static ListQueuesResponse part(ListQueuesRequest request, ListQueuesResponse whole) {
      String after = Optional.ofNullable(request.nextToken()).orElse("");
      List<String> rest =
          whole.queueUrls().stream().filter(url -> url.compareTo(after) > 0).sorted().toList();
      int max = Math.min(rest.size(), request.maxResults());
      return whole.toBuilder()
          .queueUrls(rest.subList(0, max))
          .nextToken(rest.size() > max ? rest.get(max - 1) : null)
          .build();
    }
  }
}
