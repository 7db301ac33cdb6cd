package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.lambda.LambdaApi;
import dev.tollgate.local.rest.Members;
import dev.tollgate.local.template.Environment;
import java.util.List;
import java.util.function.Predicate;

/**
 * The members of an event source mapping: their defaults and constraints.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/api/API_CreateEventSourceMapping.html">CreateEventSourceMapping</a>
 */
public final class MappingSettings {
  /** The members of {@code CreateEventSourceMapping} that are supported. */
  public static final List<String> MEMBERS =
      List.of(
          "BatchSize",
          "BisectBatchOnFunctionError",
          "DestinationConfig",
          "Enabled",
          "EventSourceArn",
          "FilterCriteria",
          "FunctionName",
          "FunctionResponseTypes",
          "MaximumBatchingWindowInSeconds",
          "MaximumRecordAgeInSeconds",
          "MaximumRetryAttempts",
          "ParallelizationFactor",
          "ScalingConfig",
          "StartingPosition");

  private static final String ARN =
      "arn:aws:(sqs:[^:]*:\\d{12}:[^:/]+|dynamodb:[^:]*:\\d{12}:table/[^/]+/stream/.+)";
  private static final int MAX_BATCH_WITHOUT_WINDOW = 10;
  private static final int MAX_BATCH = 10_000;

  /**
   * What a function's role must allow on a queue when a mapping is created.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-configure.html">Creating
   *     and configuring an Amazon SQS event source mapping</a>
   * @see <a href="https://github.com/anomalyco/sst/issues/5737">the error message</a>
   */
  private static final List<String> QUEUE_OPERATIONS =
      List.of("ReceiveMessage", "DeleteMessage", "GetQueueAttributes");

  /**
   * What a function's role must allow on a stream when a mapping is created. Policies that allow
   * {@code ListStreams} on the stream alone suffice, although the action has no resource.
   *
   * @see <a href="https://docs.aws.amazon.com/lambda/latest/dg/with-ddb.html">Using AWS Lambda with
   *     Amazon DynamoDB</a>
   * @see <a href="https://github.com/serverless/serverless/issues/1441">the error message, and a
   *     policy that suffices</a>
   */
  private static final List<String> STREAM_OPERATIONS =
      List.of("GetRecords", "GetShardIterator", "DescribeStream", "ListStreams");

  private MappingSettings() {}

  /** The members of a request, completed with the defaults of the others. */
  static ObjectNode complete(ObjectNode request) {
    String arn = request.path("EventSourceArn").asText();
    if (!arn.matches(ARN)) {
      throw LambdaApi.invalid(
          "Unrecognized event source: " + arn + " (expected: a queue or a table's stream)");
    }
    boolean queue = arn.startsWith("arn:aws:sqs:");
    ObjectNode settings = Json.object();
    for (String member : MEMBERS) {
      if (request.hasNonNull(member) && !member.equals("FunctionName")) {
        settings.set(member, request.get(member));
      }
    }
    JsonNodeFactory json = JsonNodeFactory.instance;
    settings.putIfAbsent("Enabled", json.booleanNode(true));
    settings.putIfAbsent("BatchSize", json.numberNode(queue ? 10 : 100));
    settings.putIfAbsent("MaximumBatchingWindowInSeconds", json.numberNode(0));
    settings.putIfAbsent("FunctionResponseTypes", json.arrayNode());
    if (!queue) {
      settings.putIfAbsent("BisectBatchOnFunctionError", json.booleanNode(false));
      settings.putIfAbsent("MaximumRecordAgeInSeconds", json.numberNode(-1));
      settings.putIfAbsent("MaximumRetryAttempts", json.numberNode(-1));
      settings.putIfAbsent("ParallelizationFactor", json.numberNode(1));
    }
    return settings;
  }

  /**
   * Refuses a mapping that violates a constraint.
   *
   * @param function its function's configuration
   * @param allowed whether the function's role allows an access
   */
  static void check(
      Mapping mapping, ObjectNode function, ServiceClient client, Predicate<Access> allowed) {
    ObjectNode settings = mapping.settings();
    Members members = new Members(settings);
    boolean fifo = mapping.sourceArn().endsWith(".fifo");
    members.integer("BatchSize", 1, fifo ? MAX_BATCH_WITHOUT_WINDOW : MAX_BATCH);
    members.integer("MaximumBatchingWindowInSeconds", 0, 300);
    members.integer("MaximumRetryAttempts", -1, 10_000);
    members.integer("MaximumRecordAgeInSeconds", -1, 604_800);
    members.integer("ParallelizationFactor", 1, 10);
    members.structure("ScalingConfig").integer("MaximumConcurrency", 2, 1_000);
    members.check();
    for (JsonNode type : settings.path("FunctionResponseTypes")) {
      if (!type.asText().equals("ReportBatchItemFailures")) {
        throw ApiException.validation(
            "functionResponseTypes",
            settings.path("FunctionResponseTypes").toString(),
            "Member must satisfy constraint: [Member must satisfy enum value set: [ReportBatchItemFailures]]");
      }
    }
    try {
      if (mapping.filters().size() > 5) {
        throw LambdaApi.invalid("Too many filters (expected: at most 5)");
      }
    } catch (IllegalArgumentException e) {
      throw (ApiException) LambdaApi.invalid(String.valueOf(e.getMessage())).initCause(e);
    }
    if (mapping.isOfQueue()) {
      checkQueue(mapping, function, client, allowed);
    } else {
      checkStream(mapping, client, allowed);
    }
  }

  private static void checkQueue(
      Mapping mapping, ObjectNode function, ServiceClient client, Predicate<Access> allowed) {
    ObjectNode settings = mapping.settings();
    for (String member :
        List.of(
            "BisectBatchOnFunctionError",
            "DestinationConfig",
            "MaximumRecordAgeInSeconds",
            "MaximumRetryAttempts",
            "ParallelizationFactor",
            "StartingPosition")) {
      if (settings.has(member)) {
        throw LambdaApi.invalid(
            "Unsupported " + member + " parameter for given event source mapping type.");
      }
    }
    int window = settings.path("MaximumBatchingWindowInSeconds").asInt();
    if (mapping.sourceArn().endsWith(".fifo") && window > 0) {
      throw LambdaApi.invalid("Batching window is not supported for FIFO queues.");
    }
    if (mapping.batchSize() > MAX_BATCH_WITHOUT_WINDOW && window == 0) {
      throw LambdaApi.invalid(
          "Maximum batch window in seconds must be greater than 0 if maximum batch size is greater than 10");
    }
    for (String operation : QUEUE_OPERATIONS) {
      if (!allowed.test(Access.to("sqs:" + operation, mapping.sourceArn()))) {
        throw LambdaApi.invalid(
            "The function execution role does not have permissions to call "
                + operation
                + " on SQS");
      }
    }
    ObjectNode request = Json.object();
    request.put("QueueUrl", Environment.queueUrl(mapping.sourceArn()));
    request.putArray("AttributeNames").add("All");
    ServiceClient.Answer answer = client.call("sqs", "AmazonSQS.GetQueueAttributes", request);
    if (!answer.succeeded()) {
      throw LambdaApi.invalid(
          "Error occurred while ReceiveMessage. SQS Error Code: AWS.SimpleQueueService.NonExistentQueue. "
              + "SQS Error Message: The specified queue does not exist.");
    }
    int visibility = answer.body().at("/Attributes/VisibilityTimeout").asInt();
    int timeout = function.path("Timeout").asInt();
    if (visibility < timeout) {
      throw LambdaApi.invalid(
          "Queue visibility timeout: %d seconds is less than Function timeout: %d seconds"
              .formatted(visibility, timeout));
    }
  }

  private static void checkStream(
      Mapping mapping, ServiceClient client, Predicate<Access> allowed) {
    ObjectNode settings = mapping.settings();
    String position = settings.path("StartingPosition").asText();
    if (!List.of("LATEST", "TRIM_HORIZON").contains(position)) {
      throw LambdaApi.invalid(
          "1 validation error detected: Value '%s' at 'startingPosition' failed to satisfy constraint: Member must satisfy enum value set: [LATEST, TRIM_HORIZON]"
              .formatted(position));
    }
    String destination = mapping.onFailure().orElse("arn:aws:sqs:");
    if (!destination.startsWith("arn:aws:sqs:")) {
      throw LambdaApi.invalid("OnFailure: " + destination + " (expected: a queue)");
    }
    for (String operation : STREAM_OPERATIONS) {
      if (!allowed.test(Access.to("dynamodb:" + operation, mapping.sourceArn()))) {
        throw LambdaApi.invalid(
            "Cannot access stream "
                + mapping.sourceArn()
                + ". Please ensure the role can perform the GetRecords, GetShardIterator,"
                + " DescribeStream, and ListStreams Actions on your stream in IAM.");
      }
    }
    ObjectNode request = Json.object();
    request.put("StreamArn", mapping.sourceArn());
    if (!client.call("dynamodb", "DynamoDBStreams_20120810.DescribeStream", request).succeeded()) {
      throw LambdaApi.invalid("Stream not found: " + mapping.sourceArn());
    }
  }
}
