package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;

/** Requests to build on. */
final class Requests {
  static final String FUNCTION = "arn:aws:lambda:us-east-1:000000000000:function:Producer:live";
  static final String QUEUE = "arn:aws:sqs:us-east-1:000000000000:jobs";
  static final String DEAD_LETTERS = "arn:aws:sqs:us-east-1:000000000000:dead-letters";
  static final String ROLE = "arn:aws:iam::000000000000:role/scheduler";

  static final String SEND_BATCH = "arn:aws:scheduler:::aws-sdk:sqs:sendMessageBatch";

  private Requests() {}

  /** A schedule that sends two messages to a queue, by a universal target. */
  static ObjectNode batch(String expression) {
    return target(
        expression,
        SEND_BATCH,
        """
        {"QueueUrl":"https://sqs.us-east-1.amazonaws.com/000000000000/jobs","Entries":[\
        {"Id":"0","MessageBody":"<aws.scheduler.scheduled-time>"},\
        {"Id":"1","MessageBody":"<aws.scheduler.attempt-number>","DelaySeconds":6}]}""");
  }

  /** A schedule that sends its scheduled time to a queue. */
  static ObjectNode queue(String expression) {
    return target(expression, QUEUE, "<aws.scheduler.scheduled-time>");
  }

  /** A schedule that invokes a function with its scheduled time. */
  static ObjectNode function(String expression) {
    return target(expression, FUNCTION, "{\"at\":\"<aws.scheduler.scheduled-time>\"}");
  }

  static ObjectNode target(String expression, String arn, String input) {
    ObjectNode request = Json.object().put("ScheduleExpression", expression);
    request.putObject("FlexibleTimeWindow").put("Mode", "OFF");
    request.putObject("Target").put("Arn", arn).put("RoleArn", ROLE).put("Input", input);
    return request;
  }

  static ObjectNode retrying(ObjectNode request, int attempts, int ageSeconds) {
    ObjectNode target = (ObjectNode) request.get("Target");
    target
        .putObject("RetryPolicy")
        .put("MaximumRetryAttempts", attempts)
        .put("MaximumEventAgeInSeconds", ageSeconds);
    target.putObject("DeadLetterConfig").put("Arn", DEAD_LETTERS);
    return request;
  }
}
