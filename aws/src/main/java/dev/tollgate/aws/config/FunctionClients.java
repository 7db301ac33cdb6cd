package dev.tollgate.aws.config;

import dev.tollgate.core.Threads;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.LimitExceededException;
import software.amazon.awssdk.services.cloudwatch.CloudWatchClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.KeysAndAttributes;
import software.amazon.awssdk.services.eventbridge.EventBridgeClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * The SDK clients of a function. Each is built at its first use, and all tenants share it.
 *
 * <p>Each client is named after its service and after its configuration in {@link SdkClients}:
 * {@code once} for a client that never repeats a request, {@code brief} for one whose requests may
 * fail, {@code background} for one that no handshake waits for.
 */
final class FunctionClients {
  /** Batches of one large request that run at the same time. */
  static final int PARALLEL_BATCHES = 8;

  private final Variables variables;
  private final Optional<ExecutionInterceptor> observer;
  private final PrimedHttpClient http = new PrimedHttpClient(SdkClients.newHttpClient());
  private final Priming priming = http.priming();
  private final Lazy<AwsCredentialsProvider> credentials;
  private final Lazy<SdkClients> sdk = new Lazy<>(this::newSdkClients);
  private final Lazy<DynamoDbClient> dynamoDb =
      new Lazy<>(() -> primed(sdk.get().repeating(DynamoDbClient.builder()).build()));
  private final Lazy<DynamoDbClient> dynamoDbOnce =
      new Lazy<>(() -> sdk.get().once(DynamoDbClient.builder()).build());
  private final Lazy<DynamoDbClient> dynamoDbBrief =
      new Lazy<>(() -> sdk.get().brief(DynamoDbClient.builder()).build());
  private final Lazy<SqsClient> sqs =
      new Lazy<>(() -> primed(sdk.get().repeating(SqsClient.builder()).build()));
  private final Lazy<SqsClient> sqsOnce =
      new Lazy<>(() -> sdk.get().once(SqsClient.builder()).build());
  private final Lazy<SqsClient> sqsBackground =
      new Lazy<>(() -> primed(sdk.get().background(SqsClient.builder()).build()));
  private final Lazy<SchedulerClient> schedulerBackground =
      new Lazy<>(() -> primed(sdk.get().background(SchedulerClient.builder()).build()));
  private final Lazy<LambdaClient> lambdaBackground =
      new Lazy<>(() -> sdk.get().background(LambdaClient.builder()).build());
  private final Lazy<LambdaClient> lambdaOnce =
      new Lazy<>(() -> primed(sdk.get().once(LambdaClient.builder()).build()));

  /**
   * @param observer observes the requests
   */
  FunctionClients(Variables variables, Optional<ExecutionInterceptor> observer) {
    this.variables = variables;
    this.observer = observer;
    this.credentials = new Lazy<>(() -> SdkClients.credentials(variables.all()));
  }

  Priming priming() {
    return priming;
  }

  DynamoDbClient dynamoDb() {
    return dynamoDb.get();
  }

  DynamoDbClient dynamoDbOnce() {
    return dynamoDbOnce.get();
  }

  DynamoDbClient dynamoDbBrief() {
    return dynamoDbBrief.get();
  }

  /** The credentials of the role that the function runs as. */
  AwsCredentialsProvider ownCredentials() {
    return credentials.get();
  }

  SqsClient sqs() {
    return sqs.get();
  }

  SqsClient sqsOnce() {
    return sqsOnce.get();
  }

  SqsClient sqsBackground() {
    return sqsBackground.get();
  }

  SchedulerClient schedulerBackground() {
    return schedulerBackground.get();
  }

  LambdaClient lambdaBackground() {
    return lambdaBackground.get();
  }

  LambdaClient lambdaOnce() {
    return lambdaOnce.get();
  }

  /** A client that waits for an application's function. */
  LambdaClient newApplicationLambda() {
    return sdk.get().forApplications(LambdaClient.builder()).build();
  }

  CloudWatchClient newCloudWatch() {
    return sdk.get().brief(CloudWatchClient.builder()).build();
  }

  EventBridgeClient newEvents() {
    return sdk.get().once(EventBridgeClient.builder()).build();
  }

  StsClient newSts() {
    StsClient sts = sdk.get().forRoles(StsClient.builder()).build();
    // Everybody may send this request. Its connection must not be kept: it ends with the snapshot.
    priming.send(
        () ->
            sts.getCallerIdentity(
                r -> r.overrideConfiguration(o -> o.putHeader("Connection", "close"))));
    return sts;
  }

  /** A client that closes and checks sockets. */
  ApiGatewayManagementApiClient newConnections(URI endpoint) {
    return primed(
        sdk.get()
            .repeating(ApiGatewayManagementApiClient.builder())
            .endpointOverride(endpoint)
            .build());
  }

  /**
   * A client that sends frames. A frame whose response is lost may have been sent, so only a
   * throttled request is repeated. The whole call takes no longer than one attempt, because other
   * sockets wait for it.
   */
  ApiGatewayManagementApiClient newPosts(URI endpoint) {
    RetryStrategy.Builder<?, ?> whenThrottled =
        DefaultRetryStrategy.standardStrategyBuilder()
            .useClientDefaults(false)
            .retryOnException(LimitExceededException.class);
    return sdk.get()
        .withinOneAttempt(ApiGatewayManagementApiClient.builder(), whenThrottled)
        .endpointOverride(endpoint)
        .build();
  }

  private DynamoDbClient primed(DynamoDbClient client) {
    String table = "priming";
    Map<String, AttributeValue> key = Map.of("id", AttributeValue.fromS(table));
    priming.rehearse(() -> client.getItem(r -> r.tableName(table).key(key)));
    priming.rehearse(
        () -> client.batchGetItem(r -> r.requestItems(Map.of(table, keys(List.of(key))))));
    priming.rehearse(() -> client.query(r -> r.tableName(table).keyConditionExpression("id = :i")));
    priming.rehearse(() -> client.putItem(r -> r.tableName(table).item(key)));
    priming.rehearse(
        () -> client.updateItem(r -> r.tableName(table).key(key).updateExpression("SET a = b")));
    return client;
  }

  private static KeysAndAttributes keys(List<Map<String, AttributeValue>> keys) {
    return KeysAndAttributes.builder().keys(keys).build();
  }

  private SqsClient primed(SqsClient client) {
    String url = "https://sqs/000000000000/priming";
    priming.rehearse(() -> client.receiveMessage(r -> r.queueUrl(url)));
    priming.rehearse(() -> client.deleteMessage(r -> r.queueUrl(url).receiptHandle("-")));
    priming.rehearse(
        () ->
            client.getQueueAttributes(r -> r.queueUrl(url).attributeNames(QueueAttributeName.ALL)));
    priming.rehearse(
        () ->
            client.changeMessageVisibility(
                r -> r.queueUrl(url).receiptHandle("-").visibilityTimeout(0)));
    SendMessageBatchRequestEntry entry =
        SendMessageBatchRequestEntry.builder().id("-").messageBody("-").build();
    priming.rehearse(() -> client.sendMessageBatch(r -> r.queueUrl(url).entries(entry)));
    return client;
  }

  private SchedulerClient primed(SchedulerClient client) {
    priming.rehearse(() -> client.getSchedule(r -> r.name("priming")));
    return client;
  }

  private LambdaClient primed(LambdaClient client) {
    priming.rehearse(() -> client.invoke(r -> r.functionName("priming")));
    return client;
  }

  private ApiGatewayManagementApiClient primed(ApiGatewayManagementApiClient client) {
    priming.rehearse(() -> client.getConnection(r -> r.connectionId("priming")));
    priming.rehearse(
        () ->
            client.postToConnection(
                r -> r.connectionId("priming").data(SdkBytes.fromUtf8String("-"))));
    return client;
  }

  /**
   * The JDK's HTTP client keeps as many idle connections as a fill sends batches. It reads the
   * property when it first connects.
   */
  private SdkClients newSdkClients() {
    System.setProperty("http.maxConnections", Integer.toString(2 * PARALLEL_BATCHES));
    return new SdkClients(
        new SdkClients.Access(
            Optional.of(Region.of(variables.required("AWS_REGION"))),
            credentials.get(),
            variables.optional("AWS_ENDPOINT_URL").map(URI::create)),
        http,
        Threads.timer("aws-timeouts"),
        observer.stream().toList());
  }
}
