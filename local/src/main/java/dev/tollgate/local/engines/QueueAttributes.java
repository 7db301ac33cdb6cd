package dev.tollgate.local.engines;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ApiException;
import dev.tollgate.local.json.Journal;
import dev.tollgate.local.json.Json;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * The attributes of queues that ElasticMQ refuses or forgets; in a file, if they are to survive the
 * process.
 */
final class QueueAttributes {
  private static final String POLICY = "Policy";
  private static final String RETENTION = "MessageRetentionPeriod";
  private static final Duration DEFAULT_RETENTION = Duration.ofDays(4);

  private static final Map<String, Attribute> KEPT =
      Map.of(
          "DeduplicationScope",
          new Attribute("queue", true, value -> value.matches("queue|messageGroup")),
          "FifoThroughputLimit",
          new Attribute("perQueue", true, value -> value.matches("perQueue|perMessageGroupId")),
          RETENTION,
          new Attribute(
              Long.toString(DEFAULT_RETENTION.toSeconds()), false, QueueAttributes::isRetention),
          POLICY,
          new Attribute("", false, value -> value.isEmpty() || isObject(value)),
          "SqsManagedSseEnabled",
          new Attribute("true", false, value -> value.matches("true|false")));

  private final Journal byQueue;

  /**
   * An attribute.
   *
   * @param standard its value if it was not set; empty if there is none then
   * @param fifo whether only FIFO queues have it
   */
  private record Attribute(String standard, boolean fifo, Predicate<String> valid) {
    boolean mayBeOf(String queue) {
      return !fifo || queue.endsWith(".fifo");
    }
  }

  /**
   * Opens the attributes.
   *
   * @param directory the directory of their file; without it they are kept in memory
   */
  QueueAttributes(Optional<Path> directory) {
    this.byQueue = new Journal(directory, "attributes.jsonl");
  }

  /** Removes the attributes that are kept here from others. */
  static ObjectNode removeKept(ObjectNode attributes) {
    ObjectNode kept = Json.object();
    for (String name : KEPT.keySet()) {
      if (attributes.has(name)) {
        kept.put(name, attributes.remove(name).asText());
      }
    }
    return kept;
  }

  /**
   * Checks the attributes that are kept here.
   *
   * @throws ApiException if a queue cannot have one of them
   */
  static void check(String queue, ObjectNode attributes) {
    KEPT.forEach(
        (name, attribute) -> {
          if (attributes.has(name) && !attribute.mayBeOf(queue)) {
            throw error("InvalidAttributeName", "Unknown Attribute " + name + ".");
          }
          if (attributes.has(name) && !attribute.valid().test(attributes.get(name).asText())) {
            throw error("InvalidAttributeValue", "Invalid value for the parameter " + name + ".");
          }
        });
  }

  private static ApiException error(String code, String message) {
    return new ApiException(400, "com.amazonaws.sqs#" + code, code, message);
  }

  /** The policy of a queue; empty if it has none. */
  String policy(String queue) {
    return byQueue.get(queue).path(POLICY).asText();
  }

  Duration retention(String queue) {
    return Duration.ofSeconds(
        byQueue.get(queue).path(RETENTION).asLong(DEFAULT_RETENTION.toSeconds()));
  }

  /** Adds a queue's attributes to others. */
  void addTo(ObjectNode attributes, String queue) {
    KEPT.forEach(
        (name, attribute) -> {
          String value = byQueue.get(queue).path(name).asText(attribute.standard());
          if (attribute.mayBeOf(queue) && !value.isEmpty()) {
            attributes.put(name, value);
          }
        });
  }

  /** Sets attributes of a queue; others stay. */
  synchronized void put(String queue, ObjectNode attributes) {
    ObjectNode all = Json.object();
    byQueue.get(queue).properties().forEach(kept -> all.set(kept.getKey(), kept.getValue()));
    byQueue.put(queue, all.setAll(attributes));
  }

  void remove(String queue) {
    byQueue.remove(queue);
  }

  private static boolean isRetention(String seconds) {
    return seconds.matches("\\d{1,9}")
        && Long.parseLong(seconds) >= 60
        && Long.parseLong(seconds) <= Duration.ofDays(14).toSeconds();
  }

  private static boolean isObject(String value) {
    return Json.readOrMissing(value) instanceof ObjectNode;
  }
}
