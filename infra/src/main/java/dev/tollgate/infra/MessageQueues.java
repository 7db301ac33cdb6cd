package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Stream;
import software.amazon.awscdk.Aws;
import software.amazon.awscdk.CfnDeletionPolicy;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.ICfnResourceOptions;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.services.iam.Role;
import software.amazon.awscdk.services.s3.assets.Asset;
import software.amazon.awscdk.services.sqs.CfnQueue;
import software.amazon.awscdk.services.sqs.DeadLetterQueue;
import software.amazon.awscdk.services.sqs.DeduplicationScope;
import software.amazon.awscdk.services.sqs.FifoThroughputLimit;
import software.amazon.awscdk.services.sqs.Queue;
import software.amazon.awscdk.services.sqs.QueueEncryption;
import software.constructs.Construct;

/**
 * The queues of tenants' messages: the shared queue of pooled tenants, and the names of silo
 * tenants' queues, which the control plane creates. One function's code processes all of them.
 *
 * <p>The names of the pool's queues and of the schedules' group depend only on the prefix. Two
 * deployments with the same prefix in one account and Region would share the buckets of their
 * tenants, whose names have no other part of a deployment. Because of the fixed names, the creation
 * of the second one fails instead.
 */
final class MessageQueues extends Construct {
  /** Longer than six times the processor's time-out, as Lambda recommends. */
  private static final Duration VISIBILITY = Duration.seconds(90);

  private static final int MAX_RECEIVES = 5;
  private static final int BATCH = 10;

  private final String prefix;
  private final Queue pool;
  private final Queue poolDead;
  private final FunctionWithRoles processor;
  private final Asset code;

  /** Creates the queues and maps them to the processor. */
  MessageQueues(Construct scope, TollgateProps props, FunctionWithRoles processor) {
    // A construct id is part of CloudFormation's logical ids: a new one would replace the queues.
    super(scope, "Messages");
    this.processor = processor;
    prefix = props.prefix();
    poolDead = queue("PoolDead", "tollgate_pool_dead").retentionPeriod(Duration.days(14)).build();
    pool =
        queue("Pool", "tollgate_pool")
            // After four days a message is too old for an answer.
            .retentionPeriod(Duration.days(4))
            .visibilityTimeout(VISIBILITY)
            .deadLetterQueue(
                DeadLetterQueue.builder().queue(poolDead).maxReceiveCount(MAX_RECEIVES).build())
            .build();
    if (props.removalPolicy() != RemovalPolicy.DESTROY) {
      Stream.of(pool, poolDead).forEach(MessageQueues::keepMessagesOnReplacement);
    }
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

  /**
   * Keeps the old queue when an update of the stack replaces it, for example under a new name. The
   * stack's function can no longer read it, but its messages are not lost. With the stack, the
   * queue is deleted: a queue that is left behind would block the creation of the next stack.
   */
  static void keepMessagesOnReplacement(Queue queue) {
    ICfnResourceOptions options =
        ((CfnQueue) queue.getNode().findChild("Resource")).getCfnOptions();
    options.setDeletionPolicy(CfnDeletionPolicy.DELETE);
    options.setUpdateReplacePolicy(CfnDeletionPolicy.RETAIN);
  }

  /** The name of a silo tenant's resources, without the suffix of queues. */
  String silo(String tenantId) {
    return prefix + "silo_" + tenantId;
  }

  /** The ARNs of the pool's queue and the silo tenants' queues. */
  List<String> queueArns() {
    return List.of(pool.getQueueArn(), Policies.arn(this, "sqs", silo("*.fifo")));
  }

  /** Suppresses cdk-nag's finding for the wildcard in {@link #queueArns}. */
  void acceptSilos(Role role) {
    Policies.accept(
        role,
        Policies.finding("sqs", silo("*.fifo")),
        "The wildcard stands for a tenant's id. The control plane creates these queues, and one "
            + "role reads all of them. No queue name of another deployment matches the pattern.");
  }

  /** The integration URI of the pool's queue. */
  String poolUri() {
    return uri(pool.getQueueName());
  }

  /** The integration URI of a silo tenant's queue; {@code tenantId} is a path parameter. */
  String siloUri() {
    return uri(silo("{tenantId}.fifo"));
  }

  /** The queue of the pool's messages. */
  Queue pool() {
    return pool;
  }

  /** The queue that receives a silo's dead-letter messages when the silo is removed. */
  Queue poolDead() {
    return poolDead;
  }

  FunctionWithRoles processor() {
    return processor;
  }

  /** The location of the processor's code in the deployed stack. */
  Asset code() {
    return code;
  }

  String codeArn() {
    return code.getBucket().arnForObjects(code.getS3ObjectKey());
  }

  private Queue.Builder queue(String id, String name) {
    return queue(this, id, prefix + name);
  }

  /** A FIFO queue whose message groups are independent of each other. */
  static Queue.Builder queue(Construct scope, String id, String name) {
    return Queue.Builder.create(scope, id)
        .queueName(name + ".fifo")
        .fifo(true)
        // Each session is a message group with its own order and retries, and so with its own rate.
        .deduplicationScope(DeduplicationScope.MESSAGE_GROUP)
        .fifoThroughputLimit(FifoThroughputLimit.PER_MESSAGE_GROUP_ID)
        .encryption(QueueEncryption.SQS_MANAGED)
        .enforceSsl(true);
  }

  static String uri(String queueName) {
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
