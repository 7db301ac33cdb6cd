package dev.tollgate.local;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.TableKeys;
import dev.tollgate.local.template.Environment;
import dev.tollgate.local.template.Properties;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;

/**
 * Brings DynamoDB tables up. A table that is there already stays, if its keys are those of the
 * template.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html">AWS::DynamoDB::Table</a>
 */
final class Tables implements Kind {
  private static final String[] PASSED_ON = {
    "AttributeDefinitions",
    "BillingMode",
    "GlobalSecondaryIndexes",
    "KeySchema",
    "LocalSecondaryIndexes",
    "ProvisionedThroughput"
  };

  private final ServiceClient client;
  private final Environment environment;
  private final TableKeys partitionKeys;

  Tables(ServiceClient client, Environment environment, TableKeys partitionKeys) {
    this.client = client;
    this.environment = environment;
    this.partitionKeys = partitionKeys;
  }

  @Override
  public Brought bring(String name, Properties properties) {
    ObjectNode request = JsonNodeFactory.instance.objectNode();
    String tableName = properties.optionalText("TableName").orElse(name);
    request.put("TableName", tableName);
    for (String property : PASSED_ON) {
      properties.json(property).ifPresent(value -> request.set(property, value));
    }
    properties
        .json("StreamSpecification")
        .ifPresent(
            stream ->
                request.set(
                    "StreamSpecification",
                    ((ObjectNode) stream.deepCopy()).put("StreamEnabled", true)));
    properties.ignore(
        "DeletionProtectionEnabled",
        "PointInTimeRecoverySpecification",
        "SSESpecification",
        "TableClass",
        "Tags");
    Answer existing = call("DescribeTable", tableReference(tableName));
    JsonNode table;
    if (existing.succeeded()) {
      table = existing.body().path("Table");
      refuseOtherKeys(properties, request, table);
    } else {
      table = required(properties, "CreateTable", request).path("TableDescription");
    }
    properties
        .json("TimeToLiveSpecification")
        .ifPresent(wanted -> expire(properties, tableName, wanted));
    partitionKeys.add(tableName, request);
    Map<String, String> attributes = new HashMap<>();
    attributes.put("Arn", environment.arn("dynamodb", "table/" + tableName));
    if (table.has("LatestStreamArn")) {
      attributes.put("StreamArn", table.get("LatestStreamArn").asText());
    }
    return new Brought(tableName, attributes);
  }

  private void expire(Properties properties, String tableName, JsonNode wanted) {
    JsonNode actual =
        required(properties, "DescribeTimeToLive", tableReference(tableName))
            .path("TimeToLiveDescription");
    boolean stands =
        wanted.path("Enabled").asText().equals("true")
            && actual.path("AttributeName").equals(wanted.path("AttributeName"));
    if (!stands) {
      ObjectNode request = tableReference(tableName);
      request.set("TimeToLiveSpecification", wanted);
      required(properties, "UpdateTimeToLive", request);
    }
  }

  private static void refuseOtherKeys(Properties properties, ObjectNode wanted, JsonNode table) {
    if (!keys(wanted).equals(keys(table))) {
      throw properties.error(
          "KeySchema",
          "the data directory holds the table with keys %s (expected: %s)"
              .formatted(keys(table), keys(wanted)));
    }
  }

  /** The key schemas of a table and of its indexes, by index name. */
  private static Map<String, JsonNode> keys(JsonNode table) {
    Map<String, JsonNode> keys = new TreeMap<>();
    keys.put("", table.path("KeySchema"));
    table
        .path("GlobalSecondaryIndexes")
        .forEach(index -> keys.put(index.path("IndexName").asText(), index.path("KeySchema")));
    return keys;
  }

  private JsonNode required(Properties properties, String operation, ObjectNode request) {
    Answer answer = call(operation, request);
    if (!answer.succeeded()) {
      throw properties.error(operation, answer.body().toString());
    }
    return answer.body();
  }

  private Answer call(String operation, ObjectNode request) {
    return client.call("dynamodb", "DynamoDB_20120810." + operation, request);
  }

  private static ObjectNode tableReference(String name) {
    return JsonNodeFactory.instance.objectNode().put("TableName", name);
  }
}
