package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The definition of an event source mapping.
 *
 * @param settings the members of the API, complete
 * @param ofStack whether the template defines it
 */
record Mapping(String uuid, ObjectNode settings, Instant modified, boolean ofStack, Change change) {
  /** The state of a mapping whose deletion is not complete. */
  static final String DELETING = "Deleting";

  private static final int STANDARD_CONCURRENCY = 10;

  /**
   * The last change of a mapping.
   *
   * @param state the state until it is complete, such as {@code Creating}
   */
  record Change(String state, Instant done) {
    static final Change NONE = new Change("", Instant.MIN);
  }

  /** Whether the last change is not complete. Nothing is read meanwhile. */
  boolean isChangingAt(Instant now) {
    return now.isBefore(change.done());
  }

  /** The same mapping with another last change. */
  Mapping with(Change last) {
    return new Mapping(uuid, settings, modified, ofStack, last);
  }

  /** Whether it was deleted. */
  boolean isDeleted() {
    return change.state().equals(DELETING);
  }

  String sourceArn() {
    return settings.path("EventSourceArn").asText();
  }

  String functionArn() {
    return settings.path("FunctionArn").asText();
  }

  String functionName() {
    return functionArn().split(":", -1)[6];
  }

  boolean isOfQueue() {
    return sourceArn().split(":", -1)[2].equals("sqs");
  }

  /** Name of the queue or table. */
  String sourceName() {
    String resource = sourceArn().split(":", 6)[5];
    return isOfQueue() ? resource : resource.split("/", -1)[1];
  }

  boolean enabled() {
    return settings.path("Enabled").asBoolean();
  }

  int batchSize() {
    return settings.path("BatchSize").asInt();
  }

  /** How long records are gathered for a batch that is not full. */
  Duration batchingWindow() {
    return Duration.ofSeconds(settings.path("MaximumBatchingWindowInSeconds").asInt());
  }

  /** How many batches the function may process at once. */
  int concurrency() {
    return settings.at("/ScalingConfig/MaximumConcurrency").asInt(STANDARD_CONCURRENCY);
  }

  boolean reportsFailures() {
    return settings
        .path("FunctionResponseTypes")
        .path(0)
        .asText()
        .equals("ReportBatchItemFailures");
  }

  /** Whether a record of an event passes a filter, or there is none. */
  boolean accepts(ObjectNode record) {
    List<Pattern> filters = filters();
    return filters.isEmpty() || filters.stream().anyMatch(filter -> filter.matches(record));
  }

  List<Pattern> filters() {
    List<Pattern> filters = new ArrayList<>();
    for (JsonNode filter : settings.at("/FilterCriteria/Filters")) {
      filters.add(Pattern.parse(filter.path("Pattern").asText("{}")));
    }
    return filters;
  }

  boolean startsWithLatest() {
    return settings.path("StartingPosition").asText().equals("LATEST");
  }

  boolean bisects() {
    return settings.path("BisectBatchOnFunctionError").asBoolean();
  }

  /** How often a batch is retried; -1: until it is too old. */
  int retries() {
    return settings.path("MaximumRetryAttempts").asInt(-1);
  }

  /** The maximum age of a record; -1: unlimited. */
  int maxAgeSeconds() {
    return settings.path("MaximumRecordAgeInSeconds").asInt(-1);
  }

  /** ARN of the queue that receives a notice of each batch that was given up. */
  Optional<String> onFailure() {
    JsonNode destination = settings.at("/DestinationConfig/OnFailure/Destination");
    return destination.isTextual() ? Optional.of(destination.asText()) : Optional.empty();
  }
}
