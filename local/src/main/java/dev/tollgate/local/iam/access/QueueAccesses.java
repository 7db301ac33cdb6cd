package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.util.List;
import java.util.stream.Stream;

/**
 * The accesses of requests to SQS. A batch needs the permission of the single operation (<a
 * href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-api-permissions-reference.html">API
 * permissions</a>).
 */
final class QueueAccesses {
  private final Environment environment;

  QueueAccesses(Environment environment) {
    this.environment = environment;
  }

  List<Access> of(Call call) {
    String action = "sqs:" + call.operation().replaceFirst("Batch$", "");
    if (call.operation().equals("ListQueues")) {
      return List.of(Access.to(action, "*"));
    }
    // By the query protocol a queue is named by the form or by the path; each must be allowed.
    return names(call)
        .filter(name -> !name.isEmpty())
        .distinct()
        .flatMap(name -> actions(action, call).map(each -> Access.to(each, arn(name))))
        .toList();
  }

  /** Creating a queue with tags needs the permission to tag it. */
  private static Stream<String> actions(String action, Call call) {
    boolean tags =
        action.equals("sqs:CreateQueue") && !Json.readOrMissing(call.body()).path("tags").isEmpty();
    return tags ? Stream.of(action, "sqs:TagQueue") : Stream.of(action);
  }

  private String arn(String queue) {
    return environment.arn("sqs", queue);
  }

  private static Stream<String> names(Call call) {
    JsonNode body = Json.readOrMissing(call.body());
    return body.isObject()
        ? Stream.of(
            Environment.queueName(body.path("QueueUrl").asText()),
            body.path("QueueName").asText(),
            Environment.queueName(body.path("SourceArn").asText()))
        : Stream.of(
            Environment.queueName(call.form().getOrDefault("QueueUrl", "")),
            call.form().getOrDefault("QueueName", ""),
            Environment.queueName(call.path()));
  }
}
