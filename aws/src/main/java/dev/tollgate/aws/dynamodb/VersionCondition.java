package dev.tollgate.aws.dynamodb;

import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.DeleteItemRequest;
import software.amazon.awssdk.services.dynamodb.model.PutItemRequest;

/** Adds conditions on the version of a row to writes. */
public final class VersionCondition {
  private static final String VERSION = "version";

  private VersionCondition() {}

  /** Replaces the row only if the stored version is still the one before {@code next}. */
  public static PutItemRequest.Builder replacing(PutItemRequest.Builder request, long next) {
    return request
        .conditionExpression("#version = :before")
        .expressionAttributeNames(Map.of("#version", VERSION))
        .expressionAttributeValues(Map.of(":before", Attribute.number(next - 1)));
  }

  /**
   * Deletes the row only if the stored version is {@code version}. If the row does not exist, the
   * condition holds.
   *
   * @param keyAttribute the partition key, which every existing row has
   */
  public static DeleteItemRequest.Builder deleting(
      DeleteItemRequest.Builder request, String keyAttribute, long version) {
    return request
        .conditionExpression("attribute_not_exists(#key) OR #version = :version")
        .expressionAttributeNames(Map.of("#key", keyAttribute, "#version", VERSION))
        .expressionAttributeValues(Map.of(":version", Attribute.number(version)));
  }
}
