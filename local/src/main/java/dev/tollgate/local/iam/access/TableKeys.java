package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** The partition keys of tables and of their indexes. */
public final class TableKeys {
  private final Map<String, String> keys = new ConcurrentHashMap<>();

  /**
   * Adds a table.
   *
   * @param definition as {@code CreateTable} takes it
   */
  public void add(String table, JsonNode definition) {
    put(table, definition);
    for (String indexes : new String[] {"GlobalSecondaryIndexes", "LocalSecondaryIndexes"}) {
      definition
          .path(indexes)
          .forEach(index -> put(table + "/index/" + index.path("IndexName").asText(), index));
    }
  }

  /**
   * The name of the partition key.
   *
   * @param tableOrIndex a table's name, or {@code table/index/name}
   * @return a name that no attribute has, if the table does not exist
   */
  String partitionKey(String tableOrIndex) {
    return keys.getOrDefault(tableOrIndex, "");
  }

  private void put(String tableOrIndex, JsonNode definition) {
    for (JsonNode key : definition.path("KeySchema")) {
      if (key.path("KeyType").asText().equals("HASH")) {
        keys.put(tableOrIndex, key.path("AttributeName").asText());
      }
    }
  }
}
