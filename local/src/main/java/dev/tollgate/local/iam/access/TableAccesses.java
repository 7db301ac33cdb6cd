package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import dev.tollgate.local.endpoint.Call;
import dev.tollgate.local.iam.Access;
import dev.tollgate.local.iam.Context;
import dev.tollgate.local.json.Json;
import dev.tollgate.local.template.Environment;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The accesses of requests to DynamoDB and its streams. An operation on several tables needs its
 * permission on each of them; a transaction needs the permissions of the single operations.
 *
 * @see <a
 *     href="https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazondynamodb.html">Actions
 *     of DynamoDB</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/transaction-apis-iam.html">IAM
 *     and transactions</a>
 * @see <a
 *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/specifying-conditions.html">Using
 *     IAM policy conditions for fine-grained access control</a>
 */
final class TableAccesses {
  /** A comparison of a key condition: {@code name = :value}. */
  private static final Pattern EQUALS = Pattern.compile("([#\\w.-]+)\\s*=\\s*(:[\\w.-]+)");

  /** The ARN of the stream in a shard iterator of the engine. */
  private static final Pattern STREAM = Pattern.compile("arn:[^|]+/stream/[^|]+");

  private final Environment environment;
  private final TableKeys keys;

  TableAccesses(Environment environment, TableKeys keys) {
    this.environment = environment;
    this.keys = keys;
  }

  List<Access> of(Call call) {
    JsonNode body = Json.readOrMissing(call.body());
    return switch (call.operation()) {
      case "GetItem", "UpdateItem", "DeleteItem" ->
          List.of(onItem(call.operation(), body, body.path("Key")));
      case "PutItem" -> List.of(onItem("PutItem", body, body.path("Item")));
      case "Query", "Scan" -> List.of(onTableOrIndex(call.operation(), body));
      case "BatchGetItem", "BatchWriteItem" -> batch(call.operation(), body);
      case "TransactGetItems", "TransactWriteItems" -> transaction(body);
      case "ListTables", "ListStreams", "DescribeLimits", "DescribeEndpoints" ->
          List.of(Access.to("dynamodb:" + call.operation(), "*"));
      case "DescribeStream", "GetShardIterator" ->
          List.of(Access.to("dynamodb:" + call.operation(), body.path("StreamArn").asText()));
      case "GetResourcePolicy", "PutResourcePolicy", "DeleteResourcePolicy" ->
          List.of(Access.to("dynamodb:" + call.operation(), body.path("ResourceArn").asText()));
      case "GetRecords" ->
          List.of(Access.to("dynamodb:GetRecords", stream(body.path("ShardIterator").asText())));
      default ->
          List.of(Access.to("dynamodb:" + call.operation(), arn(body.path("TableName").asText())));
    };
  }

  private List<Access> batch(String operation, JsonNode body) {
    List<Access> accesses = new ArrayList<>();
    for (var table : body.path("RequestItems").properties()) {
      List<JsonNode> items = new ArrayList<>();
      table.getValue().path("Keys").forEach(items::add);
      for (JsonNode write : table.getValue().isArray() ? table.getValue() : List.<JsonNode>of()) {
        items.add(write.at("/PutRequest/Item"));
        items.add(write.at("/DeleteRequest/Key"));
      }
      items.removeIf(JsonNode::isMissingNode);
      String name = name(table.getKey());
      List<String> attributes = new ArrayList<>(NamedAttributes.in(table.getValue()));
      items.forEach(item -> item.fieldNames().forEachRemaining(attributes::add));
      accesses.add(on(operation, name, leadingKeys(name, items), attributes));
    }
    return accesses;
  }

  private List<Access> transaction(JsonNode body) {
    List<Access> accesses = new ArrayList<>();
    for (JsonNode item : body.path("TransactItems")) {
      for (var part : item.properties()) {
        JsonNode key = part.getValue().path(part.getKey().equals("Put") ? "Item" : "Key");
        accesses.add(onItem(part.getKey() + "Item", part.getValue(), key));
      }
    }
    return accesses;
  }

  private Access onItem(String operation, JsonNode request, JsonNode item) {
    String table = name(request.path("TableName").asText());
    return on(operation, table, leadingKeys(table, List.of(item)), NamedAttributes.in(request));
  }

  private Access onTableOrIndex(String operation, JsonNode body) {
    String table = name(body.path("TableName").asText());
    String tableOrIndex =
        body.has("IndexName") ? table + "/index/" + body.path("IndexName").asText() : table;
    return on(
        operation,
        tableOrIndex,
        operation.equals("Query")
            ? queried(keys.partitionKey(tableOrIndex), body).stream().toList()
            : List.of(),
        NamedAttributes.in(body));
  }

  private Access on(
      String operation,
      String tableOrIndex,
      List<String> leadingKeys,
      Collection<String> attributes) {
    return new Access(
        "dynamodb:" + operation,
        arn(tableOrIndex),
        Context.EMPTY
            .with("dynamodb:LeadingKeys", leadingKeys)
            .with("dynamodb:Attributes", attributes.stream().distinct().toList()));
  }

  private List<String> leadingKeys(String table, List<JsonNode> items) {
    String key = keys.partitionKey(table);
    return items.stream()
        .map(item -> item.path(key))
        .filter(value -> !value.isMissingNode())
        .map(TableAccesses::scalar)
        .toList();
  }

  /** The value that the condition of a query requires of the partition key. */
  private static Optional<String> queried(String key, JsonNode body) {
    Matcher comparison = EQUALS.matcher(body.path("KeyConditionExpression").asText());
    while (comparison.find()) {
      String name = comparison.group(1);
      if (body.path("ExpressionAttributeNames").path(name).asText(name).equals(key)) {
        return Optional.of(
            scalar(body.path("ExpressionAttributeValues").path(comparison.group(2))));
      }
    }
    JsonNode condition = body.path("KeyConditions").path(key).path("AttributeValueList").path(0);
    return condition.isMissingNode() ? Optional.empty() : Optional.of(scalar(condition));
  }

  /** The text of an attribute value such as {@code {"S":"acme"}}. */
  private static String scalar(JsonNode attributeValue) {
    return attributeValue
        .path(attributeValue.fieldNames().hasNext() ? attributeValue.fieldNames().next() : "S")
        .asText();
  }

  private static String stream(String iterator) {
    Matcher arn = STREAM.matcher(iterator);
    return arn.find() ? arn.group() : "";
  }

  /** The name of a table, given its name or its ARN. */
  private static String name(String nameOrArn) {
    return nameOrArn.substring(nameOrArn.lastIndexOf('/') + 1);
  }

  private String arn(String tableOrIndex) {
    return tableOrIndex.startsWith("arn:")
        ? tableOrIndex
        : environment.arn("dynamodb", "table/" + tableOrIndex);
  }
}
