package dev.tollgate.infra;

import java.util.List;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.s3.assets.Asset;
import software.amazon.awscdk.services.sqs.DeadLetterQueue;
import software.amazon.awscdk.services.sqs.DeduplicationScope;
import software.amazon.awscdk.services.sqs.FifoThroughputLimit;
import software.amazon.awscdk.services.sqs.Queue;
import software.amazon.awscdk.services.sqs.QueueEncryption;
import software.constructs.Construct;

/**
 * What tenants' messages wait in: the queue that those share who have none of their own, and the
 * names of the others, which the control plane makes. All are served by the code of one function.
 */
final class Messages extends Construct {
  /** Longer than six attempts of the processor may last, as Lambda asks for. */
  private static final Duration VISIBILITY = Duration.seconds(90);

  private static final int MAX_RECEIVES = 5;
  private static final int BATCH = 10;

  private final String prefix;
  private final Queue pool;
  private final Queue poolDead;
  private final TenantFunction processor;
  private final Asset code;

  /** The queues, and what serves them. */
  Messages(Construct scope, TollgateProps props, TenantFunction processor) {
    super(scope, "Messages");
    this.processor = processor;
    prefix = props.prefix();
    poolDead = queue("PoolDead", "pool_dead").retentionPeriod(Duration.days(14)).build();
    pool =
        queue("Pool", "pool")
            // A message that nobody could process for four days is not worth an answer.
            .retentionPeriod(Duration.days(4))
            .visibilityTimeout(VISIBILITY)
            .deadLetterQueue(
                DeadLetterQueue.builder().queue(poolDead).maxReceiveCount(MAX_RECEIVES).build())
            .build();
    code = Asset.Builder.create(this, "Code").path(props.jars().processor().toString()).build();

    processor
        .own(queueArns(), "sqs", "ReceiveMessage", "DeleteMessage", "GetQueueAttributes")
        .variable("MESSAGE_HANDLER", props.messageHandler());
    acceptSilos(processor.role());
    processor.consumes(
        "Pool",
        source ->
            source
                .eventSourceArn(pool.getQueueArn())
                .batchSize(BATCH)
                .functionResponseTypes(List.of("ReportBatchItemFailures")));
  }

  /** The name of what a tenant has of its own, without the ending of queues. */
  String silo(String tenantId) {
    return prefix + "silo_" + tenantId;
  }

  /** The pool's queue and those of tenants' own. */
  List<String> queueArns() {
    return List.of(pool.getQueueArn(), Policies.arn(this, "sqs", silo("*.fifo")));
  }

  /** Tells cdk-nag why a role is granted something on {@link #queueArns}. */
  void acceptSilos(Role role) {
    Policies.accept(
        role,
        Policies.finding("sqs", silo("*.fifo")),
        "The star is a tenant's id: the queues are made as tenants come, and one role serves them "
            + "all. No prefix of another deployment makes a name that begins so.");
  }

  /** Where API Gateway sends to the pool's queue, as the URI of an integration. */
  String poolUri() {
    return uri(pool.getQueueName());
  }

  /** The same for a tenant's own queue; {@code tenantId} is a parameter of the request's path. */
  String siloUri() {
    return uri(silo("{tenantId}.fifo"));
  }

  /** What takes the messages of a silo's dead letters when it is dissolved. */
  Queue poolDead() {
    return poolDead;
  }

  TenantFunction processor() {
    return processor;
  }

  /** Where the processor's code was put when the stack was deployed. */
  Asset code() {
    return code;
  }

  String codeArn() {
    return code.getBucket().arnForObjects(code.getS3ObjectKey());
  }

  private Queue.Builder queue(String id, String name) {
    return Queue.Builder.create(this, id)
        .queueName(prefix + name + ".fifo")
        .fifo(true)
        // Sessions are groups. Their order and their retries are their own, and so is their rate.
        .deduplicationScope(DeduplicationScope.MESSAGE_GROUP)
        .fifoThroughputLimit(FifoThroughputLimit.PER_MESSAGE_GROUP_ID)
        .encryption(QueueEncryption.SQS_MANAGED)
        .enforceSsl(true);
  }

  private static String uri(String queueName) {
    return "arn:"
        + Aws.PARTITION
        + ":apigateway:"
        + Aws.REGION
        + ":sqs:path/"
        + Aws.ACCOUNT_ID
        + "/"
        + queueName;
  }
}
