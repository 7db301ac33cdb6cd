package dev.tollgate.local.engines;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Messages that are sent to SQS as forms and answered in JSON, as API Gateway does it. The nesting
 * of the answers is as API Gateway's users have shown it.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html">Query
 *     API requests</a>
 */
final class QueryMessages {
  private static final String ENTRY = "SendMessageBatchRequestEntry.";
  private static final List<String> TEXTS =
      List.of("MessageBody", "MessageGroupId", "MessageDeduplicationId");
  private static final List<String> VALUE = List.of("StringValue", "BinaryValue", "DataType");

  private QueryMessages() {}

  /** The JSON request for a form, without a queue. */
  static ObjectNode request(String operation, Map<String, String> form) {
    if (operation.equals("SendMessage")) {
      return message(form, "");
    }
    ObjectNode request = Json.object();
    var entries = request.putArray("Entries");
    for (int i = 1; has(form, ENTRY + i + "."); i++) {
      String prefix = ENTRY + i + ".";
      ObjectNode entry = message(form, prefix);
      copy(List.of("Id"), form, prefix, entry);
      entries.add(entry);
    }
    return request;
  }

  /** An answer in its two wrappings. */
  static ObjectNode answer(String operation, ObjectNode result) {
    ObjectNode answer = Json.object();
    ObjectNode response = answer.putObject(operation + "Response");
    response.putObject("ResponseMetadata").put("RequestId", UUID.randomUUID().toString());
    response.set(operation + "Result", result);
    return answer;
  }

  private static ObjectNode message(Map<String, String> form, String prefix) {
    ObjectNode message = Json.object();
    copy(TEXTS, form, prefix, message);
    Optional.ofNullable(form.get(prefix + "DelaySeconds"))
        .ifPresent(seconds -> message.put("DelaySeconds", Integer.parseInt(seconds)));
    copyAttributes("MessageAttribute", form, prefix, message);
    copyAttributes("MessageSystemAttribute", form, prefix, message);
    return message;
  }

  private static void copyAttributes(
      String kind, Map<String, String> form, String prefix, ObjectNode message) {
    for (int i = 1; has(form, prefix + kind + "." + i + "."); i++) {
      String attribute = prefix + kind + "." + i + ".";
      ObjectNode value =
          message.withObject("/" + kind + "s").putObject(form.getOrDefault(attribute + "Name", ""));
      copy(VALUE, form, attribute + "Value.", value);
    }
  }

  private static void copy(
      List<String> names, Map<String, String> form, String prefix, ObjectNode to) {
    for (String name : names) {
      String value = form.get(prefix + name);
      if (value != null) {
        to.put(name, value);
      }
    }
  }

  private static boolean has(Map<String, String> form, String prefix) {
    return form.keySet().stream().anyMatch(name -> name.startsWith(prefix));
  }
}
