package dev.tollgate.local.iam.access;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The top-level attributes that a request to DynamoDB names in its key, its item or its
 * expressions: the values of {@code dynamodb:Attributes}.
 */
final class NamedAttributes {
  /** Members whose members are attributes. */
  private static final List<String> MAPS =
      List.of(
          "Key",
          "Item",
          "AttributeUpdates",
          "Expected",
          "KeyConditions",
          "QueryFilter",
          "ScanFilter");

  private static final List<String> EXPRESSIONS =
      List.of(
          "UpdateExpression",
          "ConditionExpression",
          "ProjectionExpression",
          "FilterExpression",
          "KeyConditionExpression");

  /** A document path, a value, or the name of a function before its bracket. */
  private static final Pattern OPERAND =
      Pattern.compile("([#:]?[A-Za-z0-9_][\\w-]*)(?:\\.[#\\w-]+|\\[\\d+])*(\\s*\\()?");

  private static final Set<String> KEYWORDS =
      Set.of("set", "remove", "add", "delete", "and", "or", "not", "between", "in");

  private NamedAttributes() {}

  /** The names in a request, or in one part of a transaction or batch. */
  static Set<String> in(JsonNode request) {
    Set<String> names = new TreeSet<>();
    MAPS.forEach(member -> request.path(member).fieldNames().forEachRemaining(names::add));
    request.path("AttributesToGet").forEach(name -> names.add(name.asText()));
    JsonNode placeholders = request.path("ExpressionAttributeNames");
    EXPRESSIONS.forEach(
        member -> {
          Matcher operand = OPERAND.matcher(request.path(member).asText());
          while (operand.find()) {
            String name = operand.group(1);
            boolean isFunction = operand.group(2) != null;
            if (!isFunction && !isKeyword(name) && !name.startsWith(":")) {
              names.add(placeholders.path(name).asText(name));
            }
          }
        });
    return names;
  }

  private static boolean isKeyword(String name) {
    return KEYWORDS.contains(name.toLowerCase(Locale.ROOT));
  }
}
