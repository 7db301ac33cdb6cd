package dev.tollgate.aws.config;

import dev.tollgate.aws.ResourceNames;
import dev.tollgate.aws.credentials.AssumedRoles;
import dev.tollgate.aws.credentials.CredentialFailures;
import dev.tollgate.aws.credentials.CredentialStore;
import dev.tollgate.aws.credentials.TenantCredentials;
import dev.tollgate.aws.dynamodb.limit.DynamoDbBuckets;
import dev.tollgate.aws.lambda.LambdaFillRequests;
import dev.tollgate.aws.sqs.QueueUrls;
import dev.tollgate.aws.sqs.SqsTokenQueue;
import dev.tollgate.core.bucket.Buckets;
import dev.tollgate.core.bucket.TokenQueue;
import dev.tollgate.core.bucket.claim.FillRequests;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.concurrent.Executor;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sts.StsClient;

/**
 * The ports that claims need, for an application that brings its own SDK clients. Uses only the SDK
 * modules of {@link Clients}.
 */
public final class ClaimPorts {
  private final Deployment deployment;
  private final Clients clients;
  private final TenantCredentials credentials;
  private final Executor executor;
  private final InstantSource clock;

  /**
   * The resource names and ARNs that identify a deployment.
   *
   * @param limitTable name of the Limit table
   * @param queueUrlPrefix the part of a queue's URL before its name, including the slash
   * @param namePrefix prefix of all resource names of the deployment; may be empty
   * @param tenantRoleArn role that is assumed with a session tag for one tenant
   * @param tokenProducerArn the function that fills buckets
   */
  public record Deployment(
      String limitTable,
      String queueUrlPrefix,
      String namePrefix,
      String tenantRoleArn,
      String tokenProducerArn) {}

  /**
   * SDK clients of the services that claims use.
   *
   * @param sqsOnce an SQS client that should not repeat requests, because a receive whose response
   *     was lost holds tokens until their leases end
   */
  public record Clients(
      DynamoDbClient dynamoDb,
      SqsClient sqs,
      SqsClient sqsOnce,
      LambdaClient lambda,
      StsClient sts) {}

  /**
   * Ports to a deployment.
   *
   * @param cachedTenants how many tenants' credentials are cached, of some 2 KB each
   * @param executor runs the batches of one large request; its threads limit how many run at once
   */
  public ClaimPorts(
      Deployment deployment,
      Clients clients,
      int cachedTenants,
      Executor executor,
      InstantSource clock) {
    this.deployment = deployment;
    this.clients = clients;
    this.credentials =
        new AssumedRoles(
            clients.sts(),
            deployment.tenantRoleArn(),
            CredentialStore.NONE,
            new CredentialFailures(clock, unpublished -> {}),
            cachedTenants,
            clock,
            new SecureRandom()::nextDouble);
    this.executor = executor;
    this.clock = clock;
  }

  /** Buckets in the Limit table. */
  public Buckets buckets() {
    return new DynamoDbBuckets(clients.dynamoDb(), deployment.limitTable(), credentials);
  }

  /** Tokens in SQS queues. */
  public TokenQueue tokenQueue() {
    QueueUrls urls =
        new QueueUrls(deployment.queueUrlPrefix(), new ResourceNames(deployment.namePrefix()));
    return new SqsTokenQueue(clients.sqs(), clients.sqsOnce(), urls, credentials, executor, clock);
  }

  /** Fill requests, with the application's own role. */
  public FillRequests fillRequests() {
    return new LambdaFillRequests(clients.lambda(), deployment.tokenProducerArn());
  }
}
