package dev.tollgate.local.events;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.json.Json;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;

/** The records of a stream as records of a Lambda event. */
final class StreamRecords {
  private StreamRecords() {}

  /** The record that {@code GetRecords} gave, as functions and filters receive it. */
  static ObjectNode record(JsonNode given, String streamArn) {
    ObjectNode record = given.deepCopy();
    JsonNode user = record.remove("userIdentity");
    if (user != null && !user.isNull()) {
      record
          .putObject("userIdentity")
          .put("type", user.path("Type").asText())
          .put("principalId", user.path("PrincipalId").asText());
    }
    record.put("eventSourceARN", streamArn);
    return record;
  }

  static byte[] event(List<JsonNode> records) {
    ObjectNode event = Json.object();
    ArrayNode array = event.putArray("Records");
    records.forEach(array::add);
    return event.toString().getBytes(StandardCharsets.UTF_8);
  }

  static String sequenceNumber(JsonNode record) {
    return record.at("/dynamodb/SequenceNumber").asText();
  }

  static Instant created(JsonNode record) {
    return Instant.ofEpochSecond(record.at("/dynamodb/ApproximateCreationDateTime").asLong());
  }
}
