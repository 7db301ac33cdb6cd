package dev.tollgate.aws.config;

import dev.tollgate.core.Threads;
import java.net.URI;
import java.util.Optional;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.apigatewaymanagementapi.ApiGatewayManagementApiClient;
import software.amazon.awssdk.services.apigatewaymanagementapi.model.LimitExceededException;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.scheduler.SchedulerClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * The SDK clients of a function. Each is built at its first use, and all tenants share it.
 *
 * <p>Each client is named after its service and after its configuration in {@link SdkClients}:
 * {@code once} for a client that never repeats a request, {@code background} for one that no
 * handshake waits for.
 */
final class FunctionClients {
  /** Batches of one large request that run at the same time. */
  static final int PARALLEL_BATCHES = 8;

  private final Variables variables;
  private final Lazy<SdkClients> sdk = new Lazy<>(this::newSdkClients);
  private final Lazy<DynamoDbClient> dynamoDb =
      new Lazy<>(() -> sdk.get().repeating(DynamoDbClient.builder()).build());
  private final Lazy<DynamoDbClient> dynamoDbOnce =
      new Lazy<>(() -> sdk.get().once(DynamoDbClient.builder()).build());
  private final Lazy<SqsClient> sqs =
      new Lazy<>(() -> sdk.get().repeating(SqsClient.builder()).build());
  private final Lazy<SqsClient> sqsOnce =
      new Lazy<>(() -> sdk.get().once(SqsClient.builder()).build());
  private final Lazy<SqsClient> sqsBackground =
      new Lazy<>(() -> sdk.get().background(SqsClient.builder()).build());
  private final Lazy<SchedulerClient> schedulerBackground =
      new Lazy<>(() -> sdk.get().background(SchedulerClient.builder()).build());
  private final Lazy<LambdaClient> lambdaBackground =
      new Lazy<>(() -> sdk.get().background(LambdaClient.builder()).build());
  private final Lazy<LambdaClient> lambdaOnce =
      new Lazy<>(() -> sdk.get().once(LambdaClient.builder()).build());

  FunctionClients(Variables variables) {
    this.variables = variables;
  }

  DynamoDbClient dynamoDb() {
    return dynamoDb.get();
  }

  DynamoDbClient dynamoDbOnce() {
    return dynamoDbOnce.get();
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

  StsClient newSts() {
    return sdk.get().forRoles(StsClient.builder()).build();
  }

  /** A client that closes and checks sockets. */
  ApiGatewayManagementApiClient newConnections(URI endpoint) {
    return sdk.get()
        .repeating(ApiGatewayManagementApiClient.builder())
        .endpointOverride(endpoint)
        .build();
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

  /**
   * The JDK's HTTP client keeps as many idle connections as a fill sends batches. It reads the
   * property when it first connects.
   */
  private SdkClients newSdkClients() {
    System.setProperty("http.maxConnections", Integer.toString(2 * PARALLEL_BATCHES));
    return new SdkClients(
        new SdkClients.Access(
            Optional.of(Region.of(variables.required("AWS_REGION"))),
            SdkClients.credentials(variables.all()),
            variables.optional("AWS_ENDPOINT_URL").map(URI::create)),
        SdkClients.newHttpClient(),
        Threads.timer("aws-timeouts"));
  }
}
