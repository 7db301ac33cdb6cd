package dev.tollgate.local;

import java.util.Map;

/**
 * A resource that is up.
 *
 * @param physicalId the answer to {@code Ref}
 * @param attributes the answers to {@code Fn::GetAtt}
 */
record Brought(String physicalId, Map<String, String> attributes) {
  static Brought of(String physicalId) {
    return new Brought(physicalId, Map.of());
  }

  static Brought withArn(String physicalId, String arn) {
    return new Brought(physicalId, Map.of("Arn", arn));
  }
}
