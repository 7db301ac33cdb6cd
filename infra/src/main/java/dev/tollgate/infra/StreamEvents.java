package dev.tollgate.infra;

import io.github.cdklabs.cdknag.NagPackSuppression;
import io.github.cdklabs.cdknag.NagSuppressions;
import java.util.List;
import software.amazon.awscdk.Duration;
import software.amazon.awscdk.services.dynamodb.Table;
import software.amazon.awscdk.services.lambda.CfnEventSourceMapping;
import software.amazon.awscdk.services.sqs.Queue;
import software.amazon.awscdk.services.sqs.QueueEncryption;
import software.constructs.Construct;

/**
 * Sends a function the events of a table's stream.
 *
 * <p>Events that cannot be processed are retried and then moved to a dead-letter queue, because
 * they block the events behind them.
 */
final class StreamEvents extends Construct {
  private static final int RETRIES = 10;

  /** Retries until the stream drops the event, after a day. */
  static final int NO_END = -1;

  /** The retention of stream events. */
  private static final Duration MAX_AGE = Duration.hours(24);

  private final Queue failures;

  /**
   * Events of a stream.
   *
   * @param pattern which events
   * @param batch how many at most at once
   * @param window how long they are gathered
   * @param bisects whether a batch that failed is divided, so that an event that cannot be
   *     processed is retried alone
   */
  StreamEvents(
      Construct scope,
      String id,
      Table table,
      FunctionWithRoles handler,
      String pattern,
      int batch,
      Duration window,
      boolean bisects) {
    this(scope, id, table, handler, pattern, batch, window, bisects, RETRIES, "Removed");
  }

  /**
   * Events of one of several streams of a function.
   *
   * @param retries how often events are retried; {@link #NO_END} for a day
   * @param mapping the id of the event source mapping in the function's construct
   */
  StreamEvents(
      Construct scope,
      String id,
      Table table,
      FunctionWithRoles handler,
      String pattern,
      int batch,
      Duration window,
      boolean bisects,
      int retries,
      String mapping) {
    super(scope, id);
    failures =
        Queue.Builder.create(this, "Failures")
            .encryption(QueueEncryption.SQS_MANAGED)
            .enforceSsl(true)
            .retentionPeriod(Duration.days(14))
            .build();
    NagSuppressions.addResourceSuppressions(
        failures,
        List.of(
            NagPackSuppression.builder()
                .id("AwsSolutions-SQS3")
                .reason(
                    "This is the dead-letter queue of a stream: Lambda sends the positions of events "
                        + "here that the function could not process.")
                .build()));
    String stream = String.valueOf(table.getTableStreamArn());
    handler
        .own(List.of(stream), "dynamodb", "DescribeStream", "GetRecords", "GetShardIterator")
        .own(List.of("*"), "dynamodb", "ListStreams")
        .accept(
            "Resource::*",
            "DynamoDB supports no resource-level permissions for ListStreams, which Lambda needs to "
                + "read a stream. It returns only the ARNs of streams.")
        .own(List.of(failures.getQueueArn()), "sqs", "SendMessage")
        .consumes(
            mapping,
            source ->
                source
                    .eventSourceArn(stream)
                    .startingPosition("TRIM_HORIZON")
                    .batchSize(batch)
                    .maximumBatchingWindowInSeconds(window.toSeconds())
                    .bisectBatchOnFunctionError(bisects)
                    .functionResponseTypes(List.of("ReportBatchItemFailures"))
                    .maximumRetryAttempts(retries)
                    .maximumRecordAgeInSeconds(MAX_AGE.toSeconds())
                    .filterCriteria(
                        CfnEventSourceMapping.FilterCriteriaProperty.builder()
                            .filters(
                                List.of(
                                    CfnEventSourceMapping.FilterProperty.builder()
                                        .pattern(pattern)
                                        .build()))
                            .build())
                    .destinationConfig(
                        CfnEventSourceMapping.DestinationConfigProperty.builder()
                            .onFailure(
                                CfnEventSourceMapping.OnFailureProperty.builder()
                                    .destination(failures.getQueueArn())
                                    .build())
                            .build()));
  }

  /** The queue of the events that could not be processed. */
  Queue failures() {
    return failures;
  }
}
