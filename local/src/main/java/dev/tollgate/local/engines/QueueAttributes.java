package dev.tollgate.local.engines;

import com.fasterxml.jackson.core.type.TypeReference;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceError;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.function.Predicate;

/**
 * The attributes of queues that ElasticMQ refuses or forgets; in a file, if they are to survive the
 * process. Readers do not wait for writers.
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

  private final Optional<Path> file;
  private final ConcurrentMap<String, Map<String, String>> byQueue;

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
  QueueAttributes(Optional<Path> directory) throws IOException {
    this.file = directory.map(path -> path.resolve("queue-attributes.json"));
    this.byQueue =
        file.isPresent() && Files.exists(file.get())
            ? Json.MAPPER.readValue(
                file.get().toFile(),
                new TypeReference<ConcurrentSkipListMap<String, Map<String, String>>>() {})
            : new ConcurrentSkipListMap<>();
  }

  /** Whether an attribute is kept here. */
  static boolean keeps(String attribute) {
    return KEPT.containsKey(attribute);
  }

  /** Removes the attributes that are kept here from others. */
  static Map<String, String> removeKept(ObjectNode attributes) {
    Map<String, String> kept = new TreeMap<>();
    for (String name : KEPT.keySet()) {
      JsonNode value = attributes.remove(name);
      if (value != null) {
        kept.put(name, value.asText());
      }
    }
    return kept;
  }

  /** Why a queue cannot have these attributes. */
  static Optional<ServiceError> error(String queue, ObjectNode attributes) {
    for (Map.Entry<String, JsonNode> attribute : attributes.properties()) {
      Attribute kept = KEPT.get(attribute.getKey());
      if (kept != null && !kept.mayBeOf(queue)) {
        return Optional.of(
            error("InvalidAttributeName", "Unknown Attribute " + attribute.getKey() + "."));
      }
      if (kept != null && !kept.valid().test(attribute.getValue().asText())) {
        return Optional.of(
            error(
                "InvalidAttributeValue",
                "Invalid value for the parameter " + attribute.getKey() + "."));
      }
    }
    return Optional.empty();
  }

  private static ServiceError error(String code, String message) {
    return new ServiceError(400, "com.amazonaws.sqs#" + code, code, message);
  }

  /** The policy of a queue; empty if it has none. */
  String policy(String queue) {
    return of(queue).getOrDefault(POLICY, "");
  }

  /** The time for which a queue keeps messages. */
  Duration retention(String queue) {
    String seconds = of(queue).get(RETENTION);
    return seconds == null ? DEFAULT_RETENTION : Duration.ofSeconds(Long.parseLong(seconds));
  }

  /** Adds the wanted ones of a queue's attributes to others. */
  void addTo(ObjectNode attributes, String queue, Predicate<String> wanted) {
    KEPT.forEach(
        (name, attribute) -> {
          String value = of(queue).getOrDefault(name, attribute.standard());
          if (wanted.test(name) && attribute.mayBeOf(queue) && !value.isEmpty()) {
            attributes.put(name, value);
          }
        });
  }

  /** Sets attributes of a queue; others stay. */
  synchronized void put(String queue, Map<String, String> attributes) {
    Map<String, String> all = new TreeMap<>(of(queue));
    all.putAll(attributes);
    byQueue.put(queue, Map.copyOf(all));
    write();
  }

  /** Removes the attributes of a deleted queue. */
  synchronized void remove(String queue) {
    byQueue.remove(queue);
    write();
  }

  private Map<String, String> of(String queue) {
    return byQueue.getOrDefault(queue, Map.of());
  }

  private void write() {
    if (file.isPresent()) {
      Path written = file.get().resolveSibling(file.get().getFileName() + ".new");
      try {
        Json.MAPPER.writeValue(written.toFile(), byQueue);
        Files.move(written, file.get(), StandardCopyOption.REPLACE_EXISTING);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
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
