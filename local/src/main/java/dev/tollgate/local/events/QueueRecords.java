package dev.tollgate.local.events;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.util.Map;

/** The messages of a queue as records of a Lambda event. */
final class QueueRecords {
  private QueueRecords() {}

  /** The record of a message that {@code ReceiveMessage} gave. */
  static ObjectNode record(JsonNode message, String queueArn) {
    ObjectNode record = Json.object();
    record.set("messageId", message.path("MessageId"));
    record.set("receiptHandle", message.path("ReceiptHandle"));
    record.set("body", message.path("Body"));
    ObjectNode attributes = record.putObject("attributes");
    for (Map.Entry<String, JsonNode> attribute : message.path("Attributes").properties()) {
      attributes.put(attribute.getKey(), attribute.getValue().asText());
    }
    ObjectNode messageAttributes = record.putObject("messageAttributes");
    for (Map.Entry<String, JsonNode> given : message.path("MessageAttributes").properties()) {
      ObjectNode attribute = messageAttributes.putObject(given.getKey());
      copy(given.getValue(), "StringValue", attribute, "stringValue");
      copy(given.getValue(), "BinaryValue", attribute, "binaryValue");
      attribute.putArray("stringListValues");
      attribute.putArray("binaryListValues");
      copy(given.getValue(), "DataType", attribute, "dataType");
    }
    record.set("md5OfBody", message.path("MD5OfBody"));
    copy(message, "MD5OfMessageAttributes", record, "md5OfMessageAttributes");
    record.put("eventSource", "aws:sqs");
    record.put("eventSourceARN", queueArn);
    record.put("awsRegion", queueArn.split(":", -1)[3]);
    return record;
  }

  /** The record for filters with rules for the body. A body that is not JSON is removed. */
  static ObjectNode withParsedBody(ObjectNode record) {
    ObjectNode parsed = record.deepCopy();
    try {
      parsed.set("body", Json.read(record.path("body").asText()));
    } catch (JsonProcessingException e) {
      parsed.remove("body");
    }
    return parsed;
  }

  private static void copy(JsonNode from, String name, ObjectNode to, String newName) {
    if (from.hasNonNull(name)) {
      to.set(newName, from.get(name));
    }
  }
}
