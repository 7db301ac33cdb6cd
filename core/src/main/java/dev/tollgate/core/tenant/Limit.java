package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.Rate;
import java.util.Arrays;
import java.util.stream.Collectors;

/** The limits that a tier sets and a tenant may override. */
public enum Limit {
  /** Connections that a tenant may open in a minute: the rate of its {@code connect} bucket. */
  TENANT_PER_MINUTE("tenantPerMinute", Rate.MOST_PER_MINUTE),
  /** Connections that one session may open in a minute. */
  SESSION_PER_MINUTE("sessionPerMinute", Rate.MOST_PER_MINUTE),
  /**
   * Connections that one session may have open; its row holds their ids and may grow to 400 KB
   * (DynamoDB).
   */
  CONNECTIONS_PER_SESSION("connectionsPerSession", 1_000),
  /** Connections that a tenant may have open. */
  TENANT_CONNECTIONS("tenantConnections", 1_000_000),
  /** Seconds after which an idle session ends. */
  SESSION_TTL("sessionTTL", 86_400),
  /**
   * Messages that are processed for a tenant in a minute: the rate of its {@code message} bucket.
   */
  MESSAGES_PER_MINUTE("messagesPerMinute", Rate.MOST_PER_MINUTE);

  private final String key;
  private final long most;

  Limit(String key, long most) {
    this.key = key;
    this.most = most;
  }

  /** Its name in documents and rows. */
  public String key() {
    return key;
  }

  /**
   * Returns the value if this limit can have it.
   *
   * @throws InvalidValue if it is below 1 or above the largest
   */
  public long checked(long value) {
    return InvalidValue.inRange(key, value, 1, most);
  }

  /** What values this limit can have, in words. */
  public String expected() {
    return "a whole number, 1 to " + most;
  }

  /**
   * The limit of this name.
   *
   * @throws InvalidValue if there is none
   */
  public static Limit named(String key) {
    return Arrays.stream(values())
        .filter(limit -> limit.key.equals(key))
        .findFirst()
        .orElseThrow(
            () ->
                new InvalidValue(
                    "limit",
                    key,
                    Arrays.stream(values()).map(Limit::key).collect(Collectors.joining(", "))));
  }
}
