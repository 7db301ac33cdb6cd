package dev.tollgate.infra;

import java.util.List;
import java.util.stream.Stream;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.RemovalPolicy;
import software.amazon.awscdk.services.lambda.CfnEventSourceMapping;
import software.amazon.awscdk.services.sqs.DeadLetterQueue;
import software.amazon.awscdk.services.sqs.Queue;
import software.constructs.Construct;

/**
 * The queue of pushes to whole tenants, and the mapping that limits how fast they are sent. It is
 * not the queue of messages, so a push to many sessions delays no message.
 */
final class PushQueue extends Construct {
  /** Six times the function's time-out, as Lambda recommends. */
  private static final Duration VISIBILITY = Duration.minutes(6);

  /**
   * The smallest maximum of a mapping: two invocations, each of which sends to four sessions at the
   * same time. With 20 ms a request, these are 400 requests a second, of the 10,000 that an account
   * has by default for all its APIs.
   */
  private static final int CONCURRENCY = 2;

  private static final int MAX_RECEIVES = 5;

  private final Queue dead;
  private final Queue queue;

  /** Creates the queues and maps them to the function, which requests further pages. */
  PushQueue(Construct scope, TollgateProps props, FunctionWithRoles pusher) {
    super(scope, "Pushes");
    dead =
        MessageQueues.queue(this, "Dead", props.prefix() + "tollgate_push_dead")
            .retentionPeriod(Duration.days(14))
            .build();
    queue =
        MessageQueues.queue(this, "Queue", props.prefix() + "tollgate_push")
            .retentionPeriod(Duration.days(1))
            .visibilityTimeout(VISIBILITY)
            .deadLetterQueue(
                DeadLetterQueue.builder().queue(dead).maxReceiveCount(MAX_RECEIVES).build())
            .build();
    if (props.removalPolicy() != RemovalPolicy.DESTROY) {
      Stream.of(queue, dead).forEach(MessageQueues::keepMessagesOnReplacement);
    }
    sentBy(pusher)
        .own(
            List.of(queue.getQueueArn()),
            "sqs",
            "ReceiveMessage",
            "DeleteMessage",
            "GetQueueAttributes")
        .continuesByMessages()
        .consumes(
            "Push",
            source ->
                source
                    .eventSourceArn(queue.getQueueArn())
                    .batchSize(1)
                    .scalingConfig(
                        CfnEventSourceMapping.ScalingConfigProperty.builder()
                            .maximumConcurrency(CONCURRENCY)
                            .build()));
  }

  /** Lets a function send pages. */
  FunctionWithRoles sentBy(FunctionWithRoles sender) {
    return sender
        .own(List.of(queue.getQueueArn()), "sqs", "SendMessage")
        .variable("PUSH_QUEUE_URL", queue.getQueueUrl());
  }

  /** The queue of pages that failed too often. */
  Queue dead() {
    return dead;
  }
}
