package dev.tollgate.local.faults;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.json.Json;
import io.undertow.server.HttpServerExchange;
import io.undertow.util.Headers;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Planned faults of requests to queues. Some requests are answered here; others continue with a
 * changed body, or have their answers changed.
 */
final class QueueFaults {
  private static final Duration LATEST = Duration.ofSeconds(20);
  private static final int MAX_DELAY_SECONDS = 900;

  private final Faults faults;
  private final Map<String, ObjectNode> levels = new ConcurrentHashMap<>();

  QueueFaults(Faults faults) {
    this.faults = faults;
  }

  /** Changes or answers a request; returns whether it was answered. */
  boolean answer(HttpServerExchange exchange) {
    Call call = Call.of(exchange);
    String queue = call.resource().orElse("");
    boolean standard = !queue.endsWith(".fifo");
    if (!call.service().equals("sqs") || !exchange.getRequestHeaders().contains("X-Amz-Target")) {
      return false;
    }
    return switch (call.operation()) {
      case "ReceiveMessage" ->
          faults.occurs(FaultKind.QUEUE_FALSELY_EMPTY, queue) && answer(exchange, Json.object());
      case "DeleteMessage" ->
          standard
              && faults.occurs(FaultKind.QUEUE_DELIVERS_TWICE, queue)
              && answer(exchange, Json.object());
      case "GetQueueAttributes" -> level(exchange, queue);
      case "SendMessage" -> standard && late(exchange, call, queue);
      case "SendMessageBatch", "DeleteMessageBatch", "ChangeMessageVisibilityBatch" ->
          batch(exchange, call, queue, standard);
      default -> false;
    };
  }

  private boolean level(HttpServerExchange exchange, String queue) {
    boolean stale = faults.occurs(FaultKind.QUEUE_LEVEL_STALE, queue);
    Call.changeAnswer(
        exchange,
        text -> {
          ObjectNode answer = Json.readObject(text);
          if (answer.get("Attributes") instanceof ObjectNode attributes) {
            ObjectNode now = Json.object();
            attributes.properties().stream()
                .filter(attribute -> attribute.getKey().startsWith("ApproximateNumber"))
                .forEach(attribute -> now.set(attribute.getKey(), attribute.getValue()));
            ObjectNode before = levels.put(queue, now);
            if (stale && before != null) {
              attributes.setAll(before);
            }
          }
          return answer.toString();
        });
    return false;
  }

  private boolean late(HttpServerExchange exchange, Call call, String queue) {
    ObjectNode request = Json.readObject(call.body());
    delay(request, queue);
    call.withBody(request.toString()).attachTo(exchange);
    return false;
  }

  private void delay(ObjectNode message, String queue) {
    if (faults.occurs(FaultKind.QUEUE_MESSAGE_LATE, queue)) {
      long more = faults.part(FaultKind.QUEUE_MESSAGE_LATE, queue, LATEST).toSeconds();
      message.put(
          "DelaySeconds", Math.min(MAX_DELAY_SECONDS, message.path("DelaySeconds").asInt() + more));
    }
  }

  /** Entries that fail, or that only seem to be deleted, are not forwarded. */
  private boolean batch(HttpServerExchange exchange, Call call, String queue, boolean standard) {
    ObjectNode request = Json.readObject(call.body());
    boolean deleting = call.operation().equals("DeleteMessageBatch");
    boolean sending = call.operation().equals("SendMessageBatch");
    ArrayNode forwarded = Json.array();
    ArrayNode failed = Json.array();
    ArrayNode falselyDeleted = Json.array();
    for (JsonNode entry : request.path("Entries")) {
      String id = entry.path("Id").asText();
      if (faults.occurs(FaultKind.QUEUE_ENTRY_FAILS, queue)) {
        failed.addObject().put("Id", id).put("Code", "InternalError").put("SenderFault", false);
      } else if (deleting && standard && faults.occurs(FaultKind.QUEUE_DELIVERS_TWICE, queue)) {
        falselyDeleted.addObject().put("Id", id);
      } else {
        if (sending && standard && entry instanceof ObjectNode message) {
          delay(message, queue);
        }
        forwarded.add(entry);
      }
    }
    if (forwarded.isEmpty() && !(failed.isEmpty() && falselyDeleted.isEmpty())) {
      return answer(exchange, completed(Json.object(), failed, falselyDeleted));
    }
    request.set("Entries", forwarded);
    call.withBody(request.toString()).attachTo(exchange);
    Call.changeAnswer(
        exchange, text -> completed(Json.readObject(text), failed, falselyDeleted).toString());
    return false;
  }

  private static ObjectNode completed(
      ObjectNode answer, ArrayNode failed, ArrayNode falselyDeleted) {
    if (!failed.isEmpty()) {
      answer.withArray("/Failed").addAll(failed);
    }
    answer.withArray("/Successful").addAll(falselyDeleted);
    return answer;
  }

  private static boolean answer(HttpServerExchange exchange, ObjectNode answer) {
    exchange.getResponseHeaders().put(Headers.CONTENT_TYPE, "application/x-amz-json-1.0");
    exchange.getResponseSender().send(answer.toString());
    return true;
  }
}
