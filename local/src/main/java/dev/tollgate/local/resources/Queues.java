package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.iam.Policy;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * SQS queues and their policies.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/AWS_SQS.html">AWS::SQS</a>
 */
public final class Queues implements ResourceFamily {
  private static final String[] SCALARS = {
    "ContentBasedDeduplication",
    "DeduplicationScope",
    "DelaySeconds",
    "FifoQueue",
    "FifoThroughputLimit",
    "MaximumMessageSize",
    "MessageRetentionPeriod",
    "ReceiveMessageWaitTimeSeconds",
    "SqsManagedSseEnabled",
    "VisibilityTimeout"
  };

  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::SQS::Queue", Queues::queue, "AWS::SQS::QueuePolicy", Queues::policy);
  }

  private static CreatedResource queue(String logicalName, Properties properties, Stack stack) {
    ObjectNode request = Json.object();
    ObjectNode attributes = request.putObject("Attributes");
    for (String property : SCALARS) {
      properties.optionalText(property).ifPresent(value -> attributes.put(property, value));
    }
    properties
        .json("RedrivePolicy")
        .ifPresent(policy -> attributes.put("RedrivePolicy", policy.toString()));
    properties.ignore("RedriveAllowPolicy", "Tags");
    String suffix = attributes.path("FifoQueue").asBoolean() ? ".fifo" : "";
    String name = properties.optionalText("QueueName").orElse(logicalName + suffix);
    request.put("QueueName", name);
    String url =
        stack.call(properties, "sqs", "AmazonSQS.CreateQueue", request).path("QueueUrl").asText();
    return new CreatedResource(
        url,
        Map.of("Arn", stack.environment().arn("sqs", name), "QueueName", name, "QueueUrl", url));
  }

  private static CreatedResource policy(String logicalName, Properties properties, Stack stack) {
    var unused = Policy.of(properties, "PolicyDocument");
    String document = properties.json("PolicyDocument").orElseThrow().toString();
    for (String queue : properties.texts("Queues")) {
      ObjectNode request = Json.object().put("QueueUrl", queue);
      request.putObject("Attributes").put("Policy", document);
      stack.call(properties, "sqs", "AmazonSQS.SetQueueAttributes", request);
    }
    return CreatedResource.of(logicalName);
  }
}
