package dev.tollgate.local.services;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Messages sent to SQS by its query protocol, a form, and answered in JSON, as API Gateway wants it
 * to be. The nesting of the answers is as API Gateway's users have shown it.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-making-api-requests-xml.html">Query
 *     API requests</a>
 */
final class QueryProtocol {
  private static final String ENTRY = "SendMessageBatchRequestEntry.";
  private static final List<String> TEXTS =
      List.of("MessageBody", "MessageGroupId", "MessageDeduplicationId");
  private static final List<String> VALUE = List.of("StringValue", "BinaryValue", "DataType");

  private QueryProtocol() {}

  static boolean speaks(HttpServerExchange exchange) {
    return header(exchange, Headers.CONTENT_TYPE_STRING)
        .startsWith("application/x-www-form-urlencoded");
  }

  static boolean wantsJson(HttpServerExchange exchange) {
    return header(exchange, Headers.ACCEPT_STRING).contains("application/json");
  }

  /** The queue's name: the last segment of its URL, or of the path if the form has no URL. */
  static String queue(HttpServerExchange exchange, Map<String, String> form) {
    String url = form.getOrDefault("QueueUrl", exchange.getRequestPath());
    return url.substring(url.lastIndexOf('/') + 1);
  }

  /** The request of {@code SendMessage} in JSON, without a queue. */
  static ObjectNode message(Map<String, String> form) {
    return message(form, "");
  }

  /** The request of {@code SendMessageBatch} in JSON, without a queue. */
  static ObjectNode batch(Map<String, String> form) {
    ObjectNode request = JsonNodeFactory.instance.objectNode();
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
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    ObjectNode response = answer.putObject(operation + "Response");
    response.putObject("ResponseMetadata").put("RequestId", UUID.randomUUID().toString());
    response.set(operation + "Result", result);
    return answer;
  }

  static ObjectNode error(String code, String message) {
    ObjectNode answer = JsonNodeFactory.instance.objectNode();
    answer.putObject("Error").put("Code", code).put("Message", message).put("Type", "Sender");
    return answer.put("RequestId", UUID.randomUUID().toString());
  }

  private static ObjectNode message(Map<String, String> form, String prefix) {
    ObjectNode message = JsonNodeFactory.instance.objectNode();
    copy(TEXTS, form, prefix, message);
    Optional.ofNullable(form.get(prefix + "DelaySeconds"))
        .ifPresent(seconds -> message.put("DelaySeconds", Integer.parseInt(seconds)));
    for (int i = 1; has(form, prefix + "MessageAttribute." + i + "."); i++) {
      String attribute = prefix + "MessageAttribute." + i + ".";
      ObjectNode value =
          object(message, "MessageAttributes").putObject(form.getOrDefault(attribute + "Name", ""));
      copy(VALUE, form, attribute + "Value.", value);
    }
    return message;
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

  private static ObjectNode object(ObjectNode parent, String name) {
    return parent.get(name) instanceof ObjectNode object ? object : parent.putObject(name);
  }

  private static boolean has(Map<String, String> form, String prefix) {
    return form.keySet().stream().anyMatch(name -> name.startsWith(prefix));
  }

  private static String header(HttpServerExchange exchange, String name) {
    return Optional.ofNullable(exchange.getRequestHeaders().getFirst(name)).orElse("");
  }
}
