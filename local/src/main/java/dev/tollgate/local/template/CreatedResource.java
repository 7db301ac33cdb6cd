package dev.tollgate.local.template;

import java.util.Map;

/**
 * A resource of the stack that has been created.
 *
 * @param physicalId the value of {@code Ref}
 * @param attributes the values of {@code Fn::GetAtt}, by attribute
 */
public record CreatedResource(String physicalId, Map<String, String> attributes) {
  /** A resource without attributes. */
  public static CreatedResource of(String physicalId) {
    return new CreatedResource(physicalId, Map.of());
  }

  /** A resource whose only attribute is {@code Arn}. */
  public static CreatedResource withArn(String physicalId, String arn) {
    return new CreatedResource(physicalId, Map.of("Arn", arn));
  }
}
