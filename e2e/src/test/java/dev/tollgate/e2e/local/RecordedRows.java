package dev.tollgate.e2e.local;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Writes the rows of a deployment to a file, which later releases must be able to read. */
final class RecordedRows {
  private static final ObjectMapper JSON =
      new ObjectMapper().enable(SerializationFeature.INDENT_OUTPUT);

  private RecordedRows() {}

  /** Writes the rows of each table, by the id of its construct, in DynamoDB's JSON. */
  static void write(LocalDeployment deployment, Path file) throws IOException {
    Map<String, List<Map<String, Object>>> tables = new TreeMap<>();
    try (DynamoDbClient dynamoDb = deployment.inspect(DynamoDbClient.builder())) {
      for (String kind : List.of("Tenant", "Tier", "Session", "Limit")) {
        String name =
            LocalDeployment.readableTables(dynamoDb).stream()
                .filter(table -> table.contains("Tables" + kind))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no table " + kind));
        List<Map<String, Object>> rows = new ArrayList<>();
        dynamoDb
            .scanPaginator(request -> request.tableName(name))
            .items()
            .forEach(row -> rows.add(map(row)));
        tables.put(kind, rows);
      }
    }
    JSON.writeValue(file.toFile(), tables);
  }

  private static Map<String, Object> map(Map<String, AttributeValue> attributes) {
    return attributes.entrySet().stream()
        .collect(
            Collectors.toMap(
                Map.Entry::getKey, entry -> value(entry.getValue()), (a, b) -> a, TreeMap::new));
  }

  private static Map<String, Object> value(AttributeValue value) {
    return switch (value.type()) {
      case S -> Map.of("S", value.s());
      case N -> Map.of("N", value.n());
      case BOOL -> Map.of("BOOL", value.bool());
      case M -> Map.of("M", map(value.m()));
      case L -> Map.of("L", value.l().stream().map(RecordedRows::value).toList());
      case SS -> Map.of("SS", value.ss());
      default -> throw new IllegalStateException("attribute of type " + value.type());
    };
  }
}
