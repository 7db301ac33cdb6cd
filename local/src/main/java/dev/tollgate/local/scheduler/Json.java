package dev.tollgate.local.scheduler;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.math.BigDecimal;
import java.time.Instant;

/** JSON texts and trees. */
final class Json {
  private static final JsonMapper MAPPER =
      JsonMapper.builder()
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
          .build();

  private Json() {}

  static ObjectNode object() {
    return MAPPER.createObjectNode();
  }

  /** Reads one complete value; an empty text is none. */
  static JsonNode read(String text) throws JsonProcessingException {
    JsonNode value = MAPPER.readTree(text);
    if (value.isMissingNode()) {
      throw new JsonProcessingException("empty") {
        private static final long serialVersionUID = 1L;
      };
    }
    return value;
  }

  /** A time as the protocol writes it: seconds since the epoch, to the millisecond. */
  static BigDecimal epochSeconds(Instant time) {
    return BigDecimal.valueOf(time.toEpochMilli(), 3);
  }
}
