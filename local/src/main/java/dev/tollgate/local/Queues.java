package dev.tollgate.local;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.Map;

/**
 * Brings SQS queues up.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-sqs-queue.html">AWS::SQS::Queue</a>
 */
final class Queues implements Kind {
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

  private final ServiceClient client;
  private final Environment environment;

  Queues(ServiceClient client, Environment environment) {
    this.client = client;
    this.environment = environment;
  }

  @Override
  public Brought bring(String name, Properties properties) {
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    ObjectNode attributes = request.putObject("Attributes");
    for (String property : SCALARS) {
      properties.optionalText(property).ifPresent(value -> attributes.put(property, value));
    }
    properties
        .json("RedrivePolicy")
        .ifPresent(policy -> attributes.put("RedrivePolicy", policy.toString()));
    properties.ignore("RedriveAllowPolicy", "Tags");
    String queueName =
        properties
            .optionalText("QueueName")
            .orElse(attributes.path("FifoQueue").asBoolean() ? name + ".fifo" : name);
    Answer answer =
        client.call("sqs", "AmazonSQS.CreateQueue", request.put("QueueName", queueName));
    if (!answer.succeeded()) {
      throw properties.error("CreateQueue", answer.body().toString());
    }
    String url = answer.body().path("QueueUrl").asText();
    return new Brought(
        url,
        Map.of("Arn", environment.arn("sqs", queueName), "QueueName", queueName, "QueueUrl", url));
  }
}
