package dev.tollgate.local.iam;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;

/** Bodies of requests. */
final class Documents {
  private static final ObjectMapper JSON = new ObjectMapper();

  private Documents() {}

  /** A body as JSON, or nothing if it is none: then it names nothing that could be allowed. */
  static JsonNode json(String body) {
    try {
      return JSON.readTree(body);
    } catch (JsonProcessingException e) {
      return MissingNode.getInstance();
    }
  }
}
