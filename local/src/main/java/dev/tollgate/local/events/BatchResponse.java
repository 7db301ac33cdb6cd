package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.json.Json;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The answer of a function that reports batch item failures.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/lambda/latest/dg/services-sqs-errorhandling.html#services-sqs-batchfailurereporting">Implementing
 *     partial batch responses</a>
 */
final class BatchResponse {
  private BatchResponse() {}

  /**
   * The items that failed: none if the answer is empty or null or names none; all if the answer is
   * malformed or names an item that is not in the batch.
   */
  static Set<String> failures(byte[] answer, List<String> batch) {
    JsonNode response;
    try {
      response = Json.read(answer);
    } catch (IOException e) {
      return Set.copyOf(batch);
    }
    JsonNode items = response.path("batchItemFailures");
    boolean none =
        response.isMissingNode()
            || response.isNull()
            || (response.isObject() && (items.isMissingNode() || items.isNull()));
    if (none) {
      return Set.of();
    }
    Set<String> failures = new HashSet<>();
    items.forEach(item -> failures.add(item.path("itemIdentifier").asText("")));
    return items.isArray() && batch.containsAll(failures) ? failures : Set.copyOf(batch);
  }
}
