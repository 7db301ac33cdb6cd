package dev.tollgate.aws.dynamodb.tenant;

import dev.tollgate.aws.dynamodb.Attribute;
import dev.tollgate.core.audit.Author;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.UpdateItemRequest;

/** The attributes of tenants, tiers and the switch that name who made a row's last change. */
final class Authorship {
  /** Who made the last change. */
  static final String CHANGED_BY = "changedBy";

  /** The id of the request that made it. */
  static final String CHANGED_IN = "changedIn";

  /** Marks a row that is about to be deleted by its author. */
  static final String REMOVING = "removing";

  static final AttributeValue MARK = AttributeValue.fromBool(true);

  private Authorship() {}

  /** Adds the author to a whole row. */
  static Map<String, AttributeValue> sign(Map<String, AttributeValue> row, Author author) {
    row.put(CHANGED_BY, Attribute.text(author.who()));
    row.put(CHANGED_IN, Attribute.text(author.request()));
    return row;
  }

  /**
   * Names the author of a removal in a row that is about to be deleted, if an attribute has a
   * value.
   */
  static UpdateItemRequest.Builder signRemoval(
      UpdateItemRequest.Builder request, Author author, String attribute, AttributeValue value) {
    return request
        .updateExpression("SET #by = :by, #in = :in, #removing = :mark")
        .conditionExpression("#attribute = :value")
        .expressionAttributeNames(
            Map.of(
                "#by", CHANGED_BY,
                "#in", CHANGED_IN,
                "#removing", REMOVING,
                "#attribute", attribute))
        .expressionAttributeValues(
            Map.of(
                ":by",
                Attribute.text(author.who()),
                ":in",
                Attribute.text(author.request()),
                ":mark",
                MARK,
                ":value",
                value));
  }
}
