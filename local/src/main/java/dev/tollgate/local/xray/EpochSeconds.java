package dev.tollgate.local.xray;

import com.fasterxml.jackson.databind.JsonNode;
import java.math.BigDecimal;

/** Times as X-Ray has them: seconds since 1970, up to the year 9999. */
final class EpochSeconds {
  private static final BigDecimal LATEST = BigDecimal.valueOf(253_402_300_799L);

  /** Decimals beyond these make arithmetic slow: 1e-999999999 has a billion of them. */
  private static final int MOST_DECIMALS = 20;

  private EpochSeconds() {}

  /** Whether a value is such a time. */
  static boolean isValid(JsonNode value) {
    if (!value.isNumber() || value.isDouble() && !Double.isFinite(value.asDouble())) {
      return false;
    }
    BigDecimal time = value.decimalValue();
    return time.signum() >= 0
        && time.compareTo(LATEST) <= 0
        && Math.abs(time.scale()) <= MOST_DECIMALS;
  }
}
