package dev.tollgate.local.resources;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.tollgate.local.endpoint.ServiceClient.Answer;
import dev.tollgate.local.iam.access.TableKeys;
import dev.tollgate.local.iam.access.TablePolicies;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.CreatedResource;
import dev.tollgate.local.template.Properties;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * DynamoDB tables. A table in the data directory is used again if its keys are those of the
 * template.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-dynamodb-table.html">AWS::DynamoDB::Table</a>
 */
public final class Tables implements ResourceFamily {
  private static final String SERVICE = "dynamodb";
  private static final String NAME_SPACE = "DynamoDB_20120810.";
  private static final List<String> PASSED_ON =
      List.of(
          "AttributeDefinitions",
          "BillingMode",
          "GlobalSecondaryIndexes",
          "KeySchema",
          "LocalSecondaryIndexes",
          "ProvisionedThroughput");

  @Override
  public Map<String, ResourceType> types() {
    return Map.of("AWS::DynamoDB::Table", Tables::create);
  }

  private static CreatedResource create(String logicalName, Properties properties, Stack stack) {
    String name = properties.optionalText("TableName").orElse(logicalName);
    ObjectNode request = properties.copy(PASSED_ON).put("TableName", name);
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
    Answer existing = stack.tryCall(SERVICE, NAME_SPACE + "DescribeTable", reference(name));
    JsonNode table;
    if (existing.succeeded()) {
      table = existing.body().path("Table");
      if (!keys(request).equals(keys(table))) {
        throw properties.error(
            "KeySchema",
            "the data directory holds the table with keys %s (expected: %s)"
                .formatted(keys(table), keys(request)));
      }
    } else {
      table =
          stack
              .call(properties, SERVICE, NAME_SPACE + "CreateTable", request)
              .path("TableDescription");
    }
    properties
        .json("TimeToLiveSpecification")
        .ifPresent(wanted -> setTimeToLive(properties, stack, name, wanted));
    stack.service(TableKeys.class).add(name, request);
    Map<String, String> attributes = new HashMap<>();
    String arn = stack.environment().arn(SERVICE, "table/" + name);
    attributes.put("Arn", arn);
    properties
        .json("ResourcePolicy")
        .ifPresent(
            policy ->
                stack
                    .service(TablePolicies.class)
                    .put(arn, policy.path("PolicyDocument"), properties.place()));
    if (table.has("LatestStreamArn")) {
      attributes.put("StreamArn", table.get("LatestStreamArn").asText());
    }
    return new CreatedResource(name, attributes);
  }

  private static void setTimeToLive(
      Properties properties, Stack stack, String table, JsonNode wanted) {
    JsonNode actual =
        stack
            .call(properties, SERVICE, NAME_SPACE + "DescribeTimeToLive", reference(table))
            .path("TimeToLiveDescription");
    boolean same =
        wanted.path("Enabled").asText().equals("true")
            && actual.path("AttributeName").equals(wanted.path("AttributeName"));
    if (!same) {
      ObjectNode request = reference(table);
      request.set("TimeToLiveSpecification", wanted);
      stack.call(properties, SERVICE, NAME_SPACE + "UpdateTimeToLive", request);
    }
  }

  /** The key schemas of a table, under an empty name, and of its indexes, by index name. */
  private static Map<String, JsonNode> keys(JsonNode table) {
    Map<String, JsonNode> keys = new TreeMap<>();
    keys.put("", table.path("KeySchema"));
    table
        .path("GlobalSecondaryIndexes")
        .forEach(index -> keys.put(index.path("IndexName").asText(), index.path("KeySchema")));
    return keys;
  }

  private static ObjectNode reference(String table) {
    return Json.object().put("TableName", table);
  }
}
