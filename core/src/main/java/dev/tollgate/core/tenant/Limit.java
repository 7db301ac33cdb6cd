package dev.tollgate.core.tenant;

import dev.tollgate.core.InvalidValue;
import dev.tollgate.core.bucket.Rate;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The limits that a tier sets and a tenant may override.
 *
 * <p>The first six limits are required. Every limit that was added later has a {@linkplain
 * #defaultValue default value} for the rows and documents that were written before it.
 */
public enum Limit {
  /** Connections that a tenant may open in a minute: the rate of its {@code connect} bucket. */
  TENANT_PER_MINUTE("tenantPerMinute", Rate.MAX_PER_MINUTE),
  /** Connections that one session may open in a minute. */
  SESSION_PER_MINUTE("sessionPerMinute", Rate.MAX_PER_MINUTE),
  /**
   * Connections that one session may have open; its row holds their ids and may grow to 400 KB
   * (DynamoDB).
   */
  CONNECTIONS_PER_SESSION("connectionsPerSession", 1_000),
  /** Connections that a tenant may have open. */
  TENANT_CONNECTIONS("tenantConnections", 1_000_000),
  /** Seconds after which an idle session ends; at most {@link #SESSION_LIFETIME}. */
  SESSION_TTL("sessionTTL", 86_400),
  /**
   * Messages that are processed for a tenant in a minute: the rate of its {@code message} bucket.
   */
  MESSAGES_PER_MINUTE("messagesPerMinute", Rate.MAX_PER_MINUTE),
  /** Seconds from a session's creation after which it ends, used or not. */
  SESSION_LIFETIME("sessionLifetime", 2_592_000, 86_400L),
  /**
   * Sessions that one subject (claim {@code sub} of a token) may have at once. Where sessions need
   * no token, there are no subjects, and this limits nothing.
   */
  SESSIONS_PER_SUBJECT("sessionsPerSubject", 100, 10L);

  private static final long ITEM_WRITES_A_SECOND = 1_000;

  private static final String WHY_LESS =
      "a connection writes the tenant's count twice, and DynamoDB writes an item at most "
          + ITEM_WRITES_A_SECOND
          + " times a second";

  private final String key;
  private final long max;
  private final Optional<Long> defaultValue;

  Limit(String key, long max) {
    this(key, max, Optional.empty());
  }

  Limit(String key, long max, long defaultValue) {
    this(key, max, Optional.of(defaultValue));
  }

  Limit(String key, long max, Optional<Long> defaultValue) {
    this.key = key;
    this.max = max;
    this.defaultValue = defaultValue;
  }

  /** Whether it is a time in seconds; otherwise a rate or a number. */
  public boolean isTime() {
    return this == SESSION_TTL || this == SESSION_LIFETIME;
  }

  /**
   * The modes that it may have. Limits of time refuse nobody, so they have one mode. New sessions
   * are not counted, so {@code sessionsPerSubject} cannot be observed.
   */
  public List<LimitMode> modes() {
    if (isTime()) {
      return List.of(LimitMode.ENFORCE);
    }
    return this == SESSIONS_PER_SUBJECT
        ? List.of(LimitMode.ENFORCE, LimitMode.OFF)
        : List.of(LimitMode.values());
  }

  /** The largest value in rows. */
  public long max() {
    return max;
  }

  /** The value of a tier that sets none; empty if a tier must set one. */
  public Optional<Long> defaultValue() {
    return defaultValue;
  }

  /**
   * The largest value that a request may set. Rows of older releases may have more.
   *
   * <p>A tenant's connections are counted in one item. Each writes it when it opens and when it
   * closes, and DynamoDB writes an item at most {@value #ITEM_WRITES_A_SECOND} times a second.
   *
   * @see <a
   *     href="https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/bp-partition-key-design.html">Partition
   *     keys in DynamoDB</a>
   */
  public long maxInRequests() {
    return this == TENANT_PER_MINUTE ? ITEM_WRITES_A_SECOND * 60 / 2 : max;
  }

  /** Its name in documents and rows. */
  public String key() {
    return key;
  }

  /**
   * Returns the value, if it is accepted.
   *
   * @throws InvalidValue if it is below 1 or above the largest
   */
  public long checked(long value) {
    return InvalidValue.inRange(key, value, 1, max);
  }

  /**
   * Returns the mode, if this limit may have it.
   *
   * @throws InvalidValue if it may not
   */
  LimitMode checked(LimitMode mode) {
    List<LimitMode> allowed = modes();
    InvalidValue.unless(
        allowed.contains(mode),
        "modes." + key,
        mode,
        allowed.stream().map(LimitMode::name).collect(Collectors.joining(" or ")));
    return mode;
  }

  /**
   * Returns the value, if a request may set it.
   *
   * @throws InvalidValue if it is below 1 or above the largest
   */
  public long checkedInRequest(long value) {
    boolean tooLarge = value > maxInRequests();
    String why = tooLarge && this == TENANT_PER_MINUTE ? ": " + WHY_LESS : "";
    InvalidValue.unless(value >= 1 && !tooLarge, key, value, expected() + why);
    return value;
  }

  /** The values that a request may set, in words. */
  public String expected() {
    return "a whole number, 1 to " + maxInRequests();
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
